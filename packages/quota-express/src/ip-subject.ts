import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An IPv6 caller owns at least this many leading bits: the four groups of a /64. */
const GROUPS = 4

/**
 * A subject made of a network address: `ip:203.0.113.7`, or `ip:2001:db8:0:1::/64` for all of an IPv6 network, since
 * one caller has all its addresses. An IPv4 address in IPv6 form is the IPv4 address.
 *
 * @returns `undefined` for a text that is no address
 */
export function ipSubject(ip: string | undefined): string | undefined {
  if (ip === undefined) return undefined
  if (isIPv4(ip)) return `ip:${ip}`
  if (!isIPv6(ip)) return undefined
  const address = ipaddr.process(ip)
  if (!('parts' in address)) return `ip:${address.toString()}`
  const groups = address.parts.slice(0, GROUPS).map((group) => group.toString(16))
  return `ip:${groups.join(':')}::/64`
}
