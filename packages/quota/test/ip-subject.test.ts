import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyAddress, commonAddress, ipSubject } from '../src/http/ip-subject.ts'
import { httpMeter } from '../src/http.ts'
import { createQuota } from '../src/index.ts'

const group = fc.oneof(
  fc.constant('0'),
  fc.nat(0xffff).map((value) => value.toString(16)),
  fc.nat(0xffff).map((value) => value.toString(16).padStart(4, '0').toUpperCase()),
)

const ipv4 = fc.ipV4()
const mapped = fc
  .tuple(fc.constantFrom('::ffff:', '::FFFF:', '::ffff:0:', '::', '0:0:0:0:0:ffff:', '64:ff9b::', '1::'), ipv4)
  .map((parts) => parts.join(''))
const hexMapped = fc
  .tuple(fc.constantFrom('::ffff:', '0::ffff:', '0:0:0:0:0:ffff:', '0000:0:0::FFFF:'), group, group)
  .map(([start, high, low]) => `${start}${high}:${low}`)
/** Groups with `::` in one place, in none or in two: of too few and of too many groups also. */
const groups = fc.tuple(fc.array(group, { maxLength: 10 }), fc.array(fc.nat(10), { maxLength: 2 })).map(([all, at]) => {
  const parts = [...all]
  for (const index of at) parts.splice(index, 0, '')
  return parts.join(':')
})
const compressed = fc
  .tuple(fc.array(group, { maxLength: 7 }), fc.array(group, { maxLength: 7 }))
  .map(([head, tail]) => `${head.join(':')}::${tail.join(':')}`)
const zoned = fc
  .tuple(fc.oneof(fc.ipV6(), compressed), fc.constantFrom('%', '%0', '%eth0', '%25en1', '/64'))
  .map((parts) => parts.join(''))
const garbage = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFgx:.%/ \n'), maxLength: 45 })
const valid = fc.oneof(ipv4, fc.ipV4Extended(), fc.ipV6(), mapped, hexMapped, groups, compressed, zoned)
/** An address with one character more, less or other. */
const mistyped = fc
  .tuple(valid, fc.nat(45), fc.nat(1), fc.constantFrom('', '0', '1', 'f', 'g', ':', '.', '%', '\n', ' '))
  .map(([ip, at, less, more]) => ip.slice(0, at) + more + ip.slice(at + less))

it('the short path for IP addresses agrees with the library on every form that it accepts', () => {
  fc.assert(
    fc.property(fc.oneof(valid, mistyped, garbage), (ip) => {
      const common = commonAddress(ip)
      if (common !== undefined) expect(common).toEqual(anyAddress(ip))
    }),
    { numRuns: 5_000 },
  )
})

it('the short path for IP addresses accepts the forms that servers usually see', () => {
  const canonical = fc
    .tuple(fc.integer({ min: 1, max: 0xffff }), fc.array(fc.nat(0xffff), { minLength: 7, maxLength: 7 }))
    .map(([first, rest]) => new URL(`http://[${[first, ...rest].map((value) => value.toString(16)).join(':')}]`))
    .map(({ hostname }) => hostname.slice(1, -1))
  const common = fc.oneof(
    ipv4,
    ipv4.map((ip) => `::ffff:${ip}`),
    canonical,
  )
  fc.assert(
    fc.property(common, (ip) => {
      expect(commonAddress(ip)).toEqual(anyAddress(ip))
    }),
  )
})

it.each([
  ['203.0.113.7', 'ip:203.0.113.7'],
  ['::ffff:203.0.113.7', 'ip:203.0.113.7'],
  ['::ffff:cb00:7107', 'ip:203.0.113.7'],
  ['0:0:0:0:0:ffff:cb00:7107', 'ip:203.0.113.7'],
  ['2001:DB8:1:2ff:3:4:5:6', 'ip:2001:db8:1:200::/56'],
  ['2001:db8::1', 'ip:2001:db8:0:0::/56'],
  ['fe80::1%eth0', 'ip:fe80:0:0:0::/56'],
  ['203.0.113.256', undefined],
  ['203.0.113.7\n', undefined],
  ['nonsense', undefined],
  [undefined, undefined],
])('the subject of %s is %s', (ip, subject) => {
  expect(ipSubject(ip)).toBe(subject)
})

it.each([
  [112, 'ip:2001:db8:1:2ff:3:4:5::/112'],
  [113, 'ip:2001:db8:1:2ff:3:4:5:8000/113'],
  [128, 'ip:2001:db8:1:2ff:3:4:5:8006/128'],
])('the subject of the first %i bits of an address is %s', (bits, subject) => {
  expect(ipSubject('2001:db8:1:2ff:3:4:5:8006', bits)).toBe(subject)
})

it.each([
  ['203.0.113.7:51234', 'ip:203.0.113.7'],
  ['[2001:db8:1:2::7]:443', 'ip:2001:db8:1:0::/56'],
  ['[2001:db8:1:2::7]', 'ip:2001:db8:1:0::/56'],
  ['[::ffff:203.0.113.7]:80', 'ip:203.0.113.7'],
  ['unknown', undefined],
  ['203.0.113.7:', undefined],
  ['_hidden:80', undefined],
  ['', undefined],
])('the address %j, as proxies write it, gives %s', (ip, subject) => {
  expect(ipSubject(ip)).toBe(subject)
})

describe('warnings about addresses', () => {
  async function warned(address: string | undefined, subject?: (address: string) => string) {
    const codes: string[] = []
    const logger = { warn: ({ code }: { code: string }) => void codes.push(code), error: () => undefined }
    const meter = httpMeter(
      {
        quota: createQuota({ limits: { api: { by: 'user', limit: 9, per: '1h' } } }),
        anonymous: 'ip',
        subject: () => subject?.(address ?? ''),
        logger: logger as never,
      },
      { name: 'test', method: () => 'GET', languages: () => undefined, address: () => address },
    )
    const kinds: string[] = []
    for (let i = 0; i < 2; i++) kinds.push((await meter.admit({})).kind)
    return { codes, kinds }
  }

  it.each([['unknown'], [''], [undefined]])(
    'an address %j that can’t be read is anonymous, with one warning',
    async (address) => {
      expect(await warned(address)).toEqual({ codes: ['unreadable_address'], kinds: ['answer', 'answer'] })
    },
  )

  it('an address with a port is counted, without a warning', async () => {
    expect(await warned('203.0.113.7:51234')).toEqual({ codes: [], kinds: ['metered', 'metered'] })
  })

  it.each([
    ['2001:db8::7', (ip: string) => ip, ['raw_ipv6_subject']],
    ['2001:db8::7', (ip: string) => `login:${ip}`, ['raw_ipv6_subject']],
    ['2001:db8::7', (ip: string) => ipSubject(ip) ?? '', []],
    ['2001:db8::7', () => 'user:5:eu', []],
    ['203.0.113.7', (ip: string) => ip, []],
    ['::ffff:203.0.113.7', (ip: string) => ip, []],
  ])('a subject made of the address %s gives the right warnings: %s', async (address, subject, codes) => {
    expect((await warned(address, subject)).codes).toEqual(codes)
  })
})
