import { lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Thrown for an address that alerts may not be sent to. */
export class PrivateAddress extends Error {
  override readonly name: string = 'PrivateAddress'
  constructor() {
    super('the address is on this machine or in a private network')
  }
}

/** Looks up the addresses of a name, like `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly verbatim?: boolean },
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly { address: string; family: number }[]) => void,
) => void

/** All public IPv6 addresses are in here. Others may be translated to any IPv4 address. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address is public: not loopback, private, link-local, translated, multicast or reserved. An IPv4-mapped
 * IPv6 address counts as IPv4.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const isGlobal = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST)
  return isGlobal && parsed.range() === 'unicast'
}

/**
 * Makes a lookup function for connections. The connection uses exactly the addresses that were checked, so the name
 * can't change in between. All addresses of a name must be public. Literal addresses aren't looked up: see {@link
 * checkHost}.
 */
export function publicLookup(allowPrivate: boolean, lookUp: Resolve = resolve as unknown as Resolve): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { all: true, verbatim: true }, (error, found) => {
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
 * Checks a host that is an address, because addresses aren't looked up.
 *
 * @throws {PrivateAddress}
 */
export function checkHost({ hostname }: URL, allowPrivate: boolean): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && ipaddr.isValid(bare) && !isPublic(bare)) throw new PrivateAddress()
}
