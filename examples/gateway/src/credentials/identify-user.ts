import type { StoredUser } from '../http/user.ts'
import { TOKEN_PREFIX } from '../users/tokens.ts'
import type { UserRepository } from '../users/user-repository.ts'
import type { VerifyJwt } from './jwt.ts'

/**
 * Finds the user of a bearer credential: a gateway token, by its prefix, or else a JWT. The bearer of a valid JWT is a
 * user, created on first use; the role is the stored one, whatever a claim says.
 */
export function userIdentifier(
  users: UserRepository,
  verifyJwt: VerifyJwt,
): (credential: string) => Promise<StoredUser | undefined> {
  return async (credential) => {
    if (credential.startsWith(TOKEN_PREFIX)) return users.byToken(credential)
    const id = await verifyJwt(credential)
    return id === undefined ? undefined : users.findOrCreate(id)
  }
}
