import ipaddr from 'ipaddr.js'

/** Leading bits that one IPv6 caller is taken to own: networks give their clients a /56 and larger. */
export const DEFAULT_IPV6_SUBNET = 56

/**
 * A subject made of a network address: `ip:203.0.113.7`, or `ip:2001:db8:1:200::/56` for all of an IPv6 network, since
 * one caller has all its addresses. An IPv4 address in IPv6 form is the IPv4 address.
 *
 * @param ipv6Subnet leading bits of an IPv6 address that are one caller, 1 to 128
 * @returns `undefined` for a text that is no address
 */
export function ipSubject(ip: string | undefined, ipv6Subnet: number = DEFAULT_IPV6_SUBNET): string | undefined {
  if (ip === undefined) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return `ip:${ip}`
  if (!ipaddr.IPv6.isValid(ip)) return undefined
  const address = ipaddr.IPv6.parse(ip)
  if (address.isIPv4MappedAddress()) return `ip:${address.toIPv4Address().toString()}`
  return `ip:${network(address.parts, ipv6Subnet)}`
}

/** The leading bits of eight groups of 16, the others 0. */
function network(parts: readonly number[], bits: number): string {
  const groups = parts.slice(0, Math.ceil(bits / 16)).map((group, index) => {
    const kept = Math.min(16, bits - 16 * index)
    return (group & (0xffff << (16 - kept)) & 0xffff).toString(16)
  })
  return `${groups.join(':')}${groups.length < 8 ? '::' : ''}/${bits}`
}
