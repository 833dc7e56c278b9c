import type { Mistake } from '@scoregw/mistakes'
import { createQuota, defaultPolicy, definePolicy } from '../../src/index.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const policy = defaultPolicy()
const windows = { '1h': 60, '5h': 200, '1d': 600 }
const layer = { read: windows, write: windows }

/** A policy with some members other than the default's. */
function made(members: object): Mistake['make'] {
  return () => createQuota({ policy: { ...policy, ...members } as Anything })
}

/** The same with concurrency. */
function slots(concurrency: object, base: object = policy.base): Mistake['make'] {
  return made({ concurrency, base })
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
    says: ['definePolicy()', 'use `base`'],
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
      'base.personal.write.1d: missing; expected a whole number of tokens',
      'base.sites: unknown key; did you mean "site"?',
    ],
  },
  {
    written: "windows: [{ label: '1h', windowMs: 3_600_000 }]",
    make: made({ windows: [{ label: '1h', windowMs: 3_600_000 }] }),
    code: 'invalid_policy',
    says: ['windows.0.per: missing; expected a time like "30s"', 'windowMs: unknown key; use `per`'],
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
  {
    written: "windows: [{ label: 'month', every: 'mont', timezone: 'Shanghai' }]",
    make: made({ windows: [{ label: 'month', every: 'mont', timezone: 'Shanghai' }] }),
    code: 'invalid_policy',
    says: ['windows.0.every: expected "hour" or "day"', 'windows.0.timezone: unknown key; did you mean "timeZone"?'],
  },
  {
    written: "windows: [{ label: '1h', lengthMs: 3_600_000, timeZone: 'UTC' }]",
    make: made({ windows: [{ label: '1h', lengthMs: 3_600_000, timeZone: 'UTC' }] }),
    code: 'invalid_policy',
    says: ['windows.0.every: missing', 'windows.0.lengthMs: unknown key'],
  },
  {
    written: "operations: { save: { category: 'write', cost: 5, overrun: 'charge' } }",
    make: made({ operations: { save: { category: 'write', cost: 5, overrun: 'charge' } } }),
    code: 'invalid_policy',
    says: ['operations.save.maxOverrun: missing; expected the most tokens that one commit charges beyond its hold'],
  },
  {
    written: "operations: { save: { category: 'write', cost: 5, maxOverrun: 5 } }",
    make: made({ operations: { save: { category: 'write', cost: 5, maxOverrun: 5 } } }),
    code: 'invalid_policy',
    says: ['operations.save.maxOverrun: has no effect while an overrun is refused: set overrun to "charge" or "fit"'],
  },
  {
    written: "operations: { save: { category: 'write', cost: 5, overrun: 'allow', maxOverrun: 0 } }",
    make: made({ operations: { save: { category: 'write', cost: 5, overrun: 'allow', maxOverrun: 0 } } }),
    code: 'invalid_policy',
    says: [
      'overrun: expected "refuse" or "charge" or "fit", got "allow"',
      'maxOverrun: expected a whole number of tokens',
    ],
  },
  {
    written: "concurrency: { label: 'running' }",
    make: slots({ label: 'running' }),
    code: 'invalid_policy',
    says: ['concurrency: names nothing: list the `operations`, or `categories`, that need a slot'],
  },
  {
    written: "concurrency: { label: 'running', max: 3, operation: 'write' }",
    make: slots({ label: 'running', max: 3, operation: 'write' }),
    code: 'invalid_policy',
    says: ['concurrency.max: unknown key; use `base`', 'did you mean "operations"?'],
  },
  {
    written: "concurrency: { label: 'running', operations: ['wriet'], categories: ['wirte'] }",
    make: slots({ label: 'running', operations: ['wriet'], categories: ['wirte'] }),
    code: 'invalid_policy',
    says: [
      'concurrency.operations.0: not an operation: "wriet"; did you mean "write"?',
      'concurrency.categories.0: not a category: "wirte"; did you mean "write"?',
    ],
  },
  {
    written: "concurrency: { label: '1h', operations: ['write'] }",
    make: slots({ label: '1h', operations: ['write'] }),
    code: 'invalid_policy',
    says: ['concurrency.label: "1h" is the label of a window: give it another'],
  },
  {
    written: "concurrency: { label: 'running', operations: ['write'] }, and no slots in base",
    make: slots({ label: 'running', operations: ['write'] }),
    code: 'invalid_policy',
    says: ['concurrency: limits nothing: say in `base` how many slots there are, as base.personal.write.running'],
  },
  {
    written: "concurrency: { label: 'running', categories: ['write'] }, and slots for 'read' in base",
    make: slots(
      { label: 'running', categories: ['write'] },
      { personal: { read: { ...windows, running: 3 }, write: windows }, site: layer },
    ),
    code: 'invalid_policy',
    says: ['concurrency: limits nothing'],
  },
  {
    written: 'a number of slots of -1, and slots without concurrency',
    make: slots(
      { label: 'running', categories: ['write'] },
      {
        personal: { read: windows, write: { ...windows, running: -1 } },
        site: { ...layer, write: { ...windows, runing: 3 } },
      },
    ),
    code: 'invalid_policy',
    says: [
      'base.personal.write.running: expected a whole number of tokens',
      'base.site.write.runing: unknown key; did you mean "running"?',
    ],
  },
  {
    written: 'plans of a shared layer, of an unknown one, and with faults',
    make: made({
      plans: {
        pro: { site: layer, persnal: layer, personal: { wirte: windows, write: { '2h': 5, '1h': '60' }, read: 60 } },
      },
    }),
    code: 'invalid_policy',
    says: [
      "plans.pro.site: a shared layer: plans are for layers of each subject's own: personal",
      'plans.pro.persnal: not a layer: "persnal"; did you mean "personal"?',
      'plans.pro.personal.wirte: not a category: "wirte"; did you mean "write"?',
    ],
  },
  {
    written: "plans: { 'pro plan': { ... }, max: 5 }",
    make: made({ plans: { 'pro plan': {}, max: 5 } }),
    code: 'invalid_policy',
    says: ["plans.pro plan: expected a plan's name of 1 to 32", 'plans.max: expected an object of limits by layer'],
  },
  {
    written: "plans: ['pro']",
    make: made({ plans: ['pro'] }),
    code: 'invalid_policy',
    says: ['plans: expected an object of limits by plan, layer, category and label, got an array'],
  },
]
