import type { Mistake } from '@scoregw/mistakes'
import { createQuota, defaultPolicy, definePolicy } from '../../src/index.ts'

/** What JavaScript, or a cast, lets through. */
type Anything = never

const policy = defaultPolicy()
const windows = { '1h': 60, '5h': 200, '1d': 600 }
const layer = { read: windows, write: windows }

/** A policy with some members other than the default's. */
function made(members: object): Mistake['make'] {
  return () => createQuota({ policy: { ...policy, ...members } as Anything })
}

export const POLICY_MISTAKES: readonly Mistake[] = [
  {
    written: 'defaultPolicy({ operation: { ... } })',
    make: () => defaultPolicy({ operation: {} } as Anything),
    code: 'invalid_options',
    says: ['options of defaultPolicy()', 'did you mean "operations"?'],
  },
  {
    written: 'defaultPolicy({ windowMs: 60_000, limit: 100 })',
    make: () => defaultPolicy({ windowMs: 60_000, limit: 100 } as Anything),
    code: 'invalid_options',
    says: ['definePolicy()', 'limits are `base`'],
  },
  {
    written: "a limit of '60'",
    make: made({ base: { personal: { ...layer, write: { ...windows, '1h': '60' } }, site: layer } }),
    code: 'invalid_policy',
    says: ['base.personal.write.1h: expected a whole number of tokens', 'got "60"'],
  },
  {
    written: 'a limit left out, and a layer nobody knows',
    make: made({ base: { personal: { read: windows, write: { '1h': 1, '5h': 2 } }, site: layer, sites: layer } }),
    code: 'invalid_policy',
    says: [
      'base.personal.write.1d: missing: a whole number of tokens',
      'base.sites: unknown key; did you mean "site"?',
    ],
  },
  {
    written: "windows: [{ label: '1h', windowMs: 3_600_000 }]",
    make: made({ windows: [{ label: '1h', windowMs: 3_600_000 }] }),
    code: 'invalid_policy',
    says: ['windows.0.lengthMs: missing: a whole number of milliseconds', 'is `lengthMs`'],
  },
  {
    written: 'operations: { save: 5 }',
    make: made({ operations: { save: 5 } }),
    code: 'invalid_policy',
    says: ['operations.save: expected an object, got a number'],
  },
  {
    written: "operations: { save: { category: 'wirte', cost: 0.5 } }",
    make: made({ operations: { save: { category: 'wirte', cost: 0.5 } } }),
    code: 'invalid_policy',
    says: ['operations.save.cost: expected a whole number of tokens, 0 or more, got 0.5'],
  },
  {
    written: "operations: { save: { category: 'wirte', cost: 5 } }",
    make: made({ operations: { save: { category: 'wirte', cost: 5 } } }),
    code: 'invalid_policy',
    says: ['operations.save.category: not a category', 'did you mean "write"?'],
  },
  {
    written: "definePolicy({ layers: ['customer'], ... })",
    make: () => definePolicy({ ...policy, layers: ['customer'] } as Anything),
    code: 'invalid_policy',
    says: ['layers.0: expected an object, got a string'],
  },
]
