import { hrefOf } from '../../route.ts'

let last = hrefOf('users')

/** The list shown last, with its search and page. A user's page links back to it. */
export function lastList(): string {
  return last
}

export function rememberList(hash: string): void {
  last = hash
}
