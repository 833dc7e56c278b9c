import { lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An address that alerts are not to be sent to. */
export class PrivateAddress extends Error {
  override readonly name: string = 'PrivateAddress'
  constructor() {
    super('the address is on this machine or in a private network')
  }
}

/** Asks a name's addresses, as `dns.lookup` does with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly verbatim?: boolean },
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly { address: string; family: number }[]) => void,
) => void

/** Contains all public IPv6 addresses. An address outside may be translated to an IPv4 address of any kind. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address is of the internet at large: no loopback, private, link-local, translated, multicast or reserved one.
 * An IPv6 address that is mapped from IPv4 is what that one is.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const isGlobal = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST)
  return isGlobal && parsed.range() === 'unicast'
}

/**
 * A look-up for connections. The connection uses the very addresses it has checked, so that a name cannot change its
 * meaning in between. Of a name with several addresses each has to be public. Addresses themselves are never looked up: see
 * {@link checkHost}.
 */
export function publicLookup(allowPrivate: boolean, ask: Resolve = resolve as unknown as Resolve): LookupFunction {
  return (hostname, options, callback) => {
    ask(hostname, { all: true, verbatim: true }, (error, found) => {
      if (error !== null) return callback(error, '', 0)
      const [first] = found
      const isRefused = !allowPrivate && !found.every(({ address }) => isPublic(address))
      if (first === undefined || isRefused) return callback(new PrivateAddress(), '', 0)
      if (options.all === true) return callback(null, [...found])
      callback(null, first.address, first.family)
    })
  }
}

/**
 * Looks at a host that is an address, which no look-up sees.
 * @throws {PrivateAddress}
 */
export function checkHost({ hostname }: URL, allowPrivate: boolean): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && ipaddr.isValid(bare) && !isPublic(bare)) throw new PrivateAddress()
}
