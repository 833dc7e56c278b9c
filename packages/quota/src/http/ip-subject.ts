import ipaddr from 'ipaddr.js'

/** Leading bits that one IPv6 caller is taken to own: networks give their clients a /56 and larger. */
export const DEFAULT_IPV6_SUBNET = 56

/**
 * A subject made of a network address: `ip:203.0.113.7`, or `ip:2001:db8:1:200::/56` for all of an IPv6 network, since
 * one caller has all its addresses. An IPv4 address in IPv6 form is the IPv4 address.
 *
 * @param ipv6Subnet leading bits of an IPv6 address that are one caller, 1 to 128
 * @returns `undefined` for an invalid address
 */
export function ipSubject(ip: string | undefined, ipv6Subnet: number = DEFAULT_IPV6_SUBNET): string | undefined {
  if (ip === undefined) return undefined
  const address = commonAddress(ip) ?? anyAddress(ip)
  if (address === undefined || typeof address === 'string') return address && `ip:${address}`
  return `ip:${network(address, ipv6Subnet)}`
}

/** An IPv4 address, or the eight groups of an IPv6 address. */
type Address = string | readonly number[]

/** Every form, by the library: its parser of IPv6 takes longer than all else that a request costs. */
export function anyAddress(ip: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return ip
  if (!ipaddr.IPv6.isValid(ip)) return undefined
  const address = ipaddr.IPv6.parse(ip)
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.parts
}

/** The same of the forms in which servers see nearly all callers; `undefined`: {@link anyAddress} knows. */
export function commonAddress(ip: string): Address | undefined {
  // What a socket for IPv4 and IPv6 makes of an IPv4 address.
  const ipv4 = ip.startsWith('::ffff:') ? ip.slice('::ffff:'.length) : ip
  if (IPV4.test(ipv4)) return ipv4
  return IPV6.test(ip) ? groupsOf(ip) : undefined
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** Groups of up to four digits, the first not 0: behind zeros there may be an IPv4 address. */
const IPV6 = /^[1-9a-f][\da-f]{0,3}(?::[\da-f]{1,4}){0,7}(?:::(?:[\da-f]{1,4}(?::[\da-f]{1,4})*)?)?$/i

function groupsOf(ip: string): number[] | undefined {
  const [head = '', tail] = ip.split('::')
  const leading = head.split(':')
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = 8 - leading.length - trailing.length
  // `::` stands for one group of zeros or more.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  return [...leading, ...Array<string>(missing).fill('0'), ...trailing].map((group) => Number.parseInt(group, 16))
}

/** The leading bits of an address, the others 0. */
function network(groups: readonly number[], bits: number): string {
  const leading = groups.slice(0, Math.ceil(bits / 16)).map((group, index) => {
    const kept = Math.min(16, bits - 16 * index)
    return (group & (0xffff << (16 - kept)) & 0xffff).toString(16)
  })
  return `${leading.join(':')}${leading.length < 8 ? '::' : ''}/${bits}`
}
