import { hrefOf } from '../../route.ts'

let last = hrefOf('users')

/** The list that was checked last, with its search and its place: where the page of a user leads back to. */
export function lastList(): string {
  return last
}

export function rememberList(hash: string): void {
  last = hash
}
