import type { OutgoingRequest } from './options.ts'

/** Header fields that identify callers. */
const CREDENTIALS = ['authorization', 'x-api-key', 'api-key', 'private-token', 'x-shopify-access-token']

/** Origin and a digest of the credential, so that the credential itself isn't stored. */
export function originAndCredential({ url, headers }: OutgoingRequest): string {
  return `${url.origin} ${digest(CREDENTIALS.map((name) => headers.get(name) ?? '').join('\n'))}`
}

/** 64 bits, in memory only. It isn't cryptographic: two credentials with the same digest would only share a pace. */
function digest(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let index = 0; index < text.length; index++) {
    high = Math.imul(high ^ text.charCodeAt(index), 2_654_435_761)
    low = Math.imul(low ^ text.charCodeAt(index), 1_597_334_677)
  }
  return `${(high >>> 0).toString(36)}${(low >>> 0).toString(36)}`
}
