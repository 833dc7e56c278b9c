import ipaddr from 'ipaddr.js'

/** Networks assign their clients a /56 or larger. */
export const DEFAULT_IPV6_SUBNET = 56

/**
 * Returns a subject for a network address, such as `ip:203.0.113.7`. An IPv6 caller owns a whole network, so the
 * subject is the network: `ip:2001:db8:1:200::/56`. An IPv4-mapped IPv6 address counts as IPv4. A port is ignored:
 * `203.0.113.7:51234` and `[2001:db8::1]:443`, as some proxies write.
 *
 * @param ipv6Subnet how many leading bits identify one caller, 1 to 128
 * @returns `undefined` for an invalid address
 */
export function ipSubject(ip: string | undefined, ipv6Subnet: number = DEFAULT_IPV6_SUBNET): string | undefined {
  if (ip === undefined) return undefined
  const address = commonAddress(ip) ?? anyAddress(ip) ?? anyAddress(withoutPort(ip))
  if (address === undefined || typeof address === 'string') return address && `ip:${address}`
  return `ip:${network(address, ipv6Subnet)}`
}

/** Removes a port, and the brackets of an IPv6 address. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = PORTED.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/** `[2001:db8::1]`, `[2001:db8::1]:443` or `203.0.113.7:51234`. */
const PORTED = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/

/** An IPv4 address, or the eight groups of an IPv6 address. */
type Address = string | readonly number[]

/** Parses every form of address, with `ipaddr.js`. Its IPv6 parser takes longer than the rest of a request. */
export function anyAddress(ip: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return ip
  if (!ipaddr.IPv6.isValid(ip)) return undefined
  const address = ipaddr.IPv6.parse(ip)
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.parts
}

/** Parses the usual forms of addresses quickly; `undefined`: use {@link anyAddress}. */
export function commonAddress(ip: string): Address | undefined {
  // A dual-stack socket reports IPv4 addresses in this form.
  const ipv4 = ip.startsWith('::ffff:') ? ip.slice('::ffff:'.length) : ip
  if (IPV4.test(ipv4)) return ipv4
  return IPV6.test(ip) ? groupsOf(ip) : undefined
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** Up to eight groups of up to four digits. The first isn't 0, because an IPv4 address may follow leading zeros. */
const IPV6 = /^[1-9a-f][\da-f]{0,3}(?::[\da-f]{1,4}){0,7}(?:::(?:[\da-f]{1,4}(?::[\da-f]{1,4})*)?)?$/i

function groupsOf(ip: string): number[] | undefined {
  const [head = '', tail] = ip.split('::')
  const leading = head.split(':')
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = 8 - leading.length - trailing.length
  // `::` stands for at least one group of zeros.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  return [...leading, ...Array<string>(missing).fill('0'), ...trailing].map((group) => Number.parseInt(group, 16))
}

/** The leading bits of an address as CIDR text, for example `2001:db8:1:200::/56`. */
function network(groups: readonly number[], bits: number): string {
  const leading = groups.slice(0, Math.ceil(bits / 16)).map((group, index) => {
    const kept = Math.min(16, bits - 16 * index)
    return (group & (0xffff << (16 - kept)) & 0xffff).toString(16)
  })
  return `${leading.join(':')}${leading.length < 8 ? '::' : ''}/${bits}`
}
