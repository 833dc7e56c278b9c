import { createQuota } from '@scoregw/quota'
import { ipSubject } from '@scoregw/quota/http'

/** Counts wrong passwords only: a correct one costs nothing. */
export const guard = createQuota({
  limits: {
    perAccount: { by: 'account', limit: 5, per: '15m' },
    perAccountDaily: { by: 'account', limit: 20, per: '1d' },
    perAddress: { by: 'address', limit: 20, per: '15m' },
    perAddressDaily: { by: 'address', limit: 100, per: '1d' },
  },
})

export type LogIn =
  | { readonly outcome: 'welcome' | 'wrong' }
  | { readonly outcome: 'wait'; readonly seconds: number }

/**
 * Holds one attempt while the password is checked, so concurrent
 * guesses can't pass together. Refunds it unless the password was
 * wrong.
 */
export async function logIn(
  account: string,
  ip: string,
  isRight: () => Promise<boolean>,
): Promise<LogIn> {
  // Without an account, only the address is charged.
  const subject = {
    account: account.trim().toLowerCase() || null,
    address: ipSubject(ip) ?? 'unknown',
  }
  const held = await guard.reserve({ subject })
  if (!held.allowed) {
    const seconds = held.decision?.retryAfterSeconds ?? 1
    return { outcome: 'wait', seconds }
  }
  let wrong = false
  try {
    wrong = !(await isRight())
  } finally {
    await (wrong ? held.commit() : held.cancel())
  }
  return { outcome: wrong ? 'wrong' : 'welcome' }
}
