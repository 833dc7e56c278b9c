import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import {
  aFunction,
  type Check,
  type Checks,
  group,
  isPlain,
  listOf,
  oneOf,
  optional,
  tableBy,
  tableEach,
  textLike,
} from '../options/checks.ts'
import { faultsOf } from '../options/faults.ts'
import { perCheck } from '../windows/kinds/bucket.ts'
import { everyCheck } from '../windows/kinds/calendar.ts'
import { SLOTS } from '../windows/units.ts'
import { readMoney } from './money.ts'
import type { OverrunPolicy, Policy, PolicyAnswers } from './policy.ts'
import { policyFaults } from './policy-faults.ts'
import { unitCheck } from './rules.ts'
import { layerNameCheck, limitCheck, NAME, nameCheck, wrongName } from './values.ts'
import { policyOf, type Written, type WrittenLimit, type WrittenOperation } from './written.ts'

const BURST = 'use `burst` for how many tokens a bucket can save up'

/** Advice for names from other libraries. */
const WORDS: Readonly<Record<string, string>> = {
  windowMs: 'use `per`, for example "15m"',
  lengthMs: 'use `per`, for example "15m"',
  duration: 'use `per`, for example "15m"',
  interval: 'use `per`, for example "15m"',
  max: 'use `limit`',
  points: 'use `limit`',
  unit: 'use `of`',
  key: 'use `by`',
  capacity: BURST,
  maxTokens: BURST,
  refillRate: 'a bucket refills its `limit` per `per`',
}

/** The members of a policy as written. Everything else among an engine's options is its own. */
export const POLICY_MEMBERS: readonly string[] = [
  'limits',
  'operations',
  'unit',
  'titles',
  'plans',
  'planOf',
  'answers',
]

/** Checks a policy and completes it. It is `undefined` if there are faults. */
export function readPolicy(definition: unknown): { readonly policy?: Policy; readonly faults: readonly Fault[] } {
  const given = withoutUndefined(definition)
  const faults = faultsOf(writtenCheck(), given, WORDS)
  if (faults.length > 0) return { faults }
  const written = given as Written
  const found = policyFaults(written)
  return found.length > 0 ? { faults: found } : { policy: policyOf(written), faults: [] }
}

/** Removes members that are `undefined`, because optional members may be. */
function withoutUndefined(value: unknown): unknown {
  if (!isPlain(value) || readMoney(value) !== undefined) return value
  const given = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(given.map(([name, each]) => [name, withoutUndefined(each)]))
}

function writtenCheck(): Check<Written> {
  const title = textLike(/^.{1,64}$/su, '1 to 64 characters')
  return group<Written>({
    limits: tableEach(
      (name) => wrongName(name, "a limit's name") ?? limitDefinitionCheck(title),
      'an object of limits by name',
    ),
    operations: optional(tableBy((name) => wrongName(name, "an operation's name"), operationCheck(), 'an object')),
    unit: optional(unitCheck()) as Check<Written['unit']>,
    titles: optional(tableBy(() => undefined, title, 'an object of texts')),
    plans: optional(v.unknown()) as Check<Written['plans']>,
    planOf: optional(layerNameCheck('a layer')),
    answers: optional(aFunction<PolicyAnswers>('a function, for example neutralAnswers()')),
  })
}

const TIMES = ['per', 'burst', 'every', 'timeZone', 'weekStartsOn', 'anchor'] as const
/** What some limits have, to suggest for unknown members of others. */
const MEMBERS: readonly string[] = ['by', 'shared', 'concurrency', ...TIMES]

function limitDefinitionCheck(title: Check<string>): Check<WrittenLimit> {
  const common = {
    for: optional(namesCheck()),
    title: optional(title),
    shadow: optional(oneOf(true, false)),
    formerly: optional(textLike(NAME, 'the name that the limit had')),
  }
  return v.lazy<Check<WrittenLimit>>((value) => {
    const given = Object(value) as Readonly<Record<string, unknown>>
    const has = (name: string): boolean => Object.hasOwn(given, name)
    if (has('concurrency')) {
      const others = ['limit', 'of', ...TIMES].filter(has)
      const none = refusals(others, 'not with concurrency, which counts work in progress')
      return group({ ...whose(has), concurrency: limitCheck(SLOTS), ...common, ...none } as Checks<never>, MEMBERS)
    }
    const members = { ...whose(has), limit: v.unknown(), of: optional(unitCheck()), ...common }
    return timeCheck(has, members as Checks<object>)
  })
}

/** Checks a limit's time: `per`, maybe with a `burst`, or `every`. */
function timeCheck(has: (name: string) => boolean, members: Checks<object>): Check<never> {
  if (has('per') && has('every')) {
    const any = Object.fromEntries(TIMES.filter(has).map((name) => [name, optional(v.unknown())]))
    return group({
      ...members,
      ...any,
      ...refusals(['every'], 'a limit has one time: remove `per` or `every`'),
    }) as never
  }
  const check = has('every') || has('timeZone') ? everyCheck : perCheck
  return check(members, MEMBERS) as Check<never>
}

/** Checks whose limit it is: `by` or `shared`. */
function whose(has: (name: string) => boolean): object {
  const what = 'whose limit it is: by: "user" for each user, or shared: "service" for all together'
  if (!has('shared')) return { by: v.lazy((by) => (Array.isArray(by) ? refused(SEVERAL_KEYS) : layerNameCheck(what))) }
  const shared = layerNameCheck('a name, for example "service"')
  return has('by') ? { shared, by: refused('not with `shared`: a limit is for each subject, or for all') } : { shared }
}

const SEVERAL_KEYS =
  'several keys in one limit are not supported: give the subject one more key that joins them, such as userAndModel'

function refusals(names: readonly string[], message: string): object {
  return Object.fromEntries(names.map((name) => [name, refused(message)]))
}

function refused(message: string): Check<never> {
  return v.custom<never>(() => false, message)
}

function namesCheck(): Check<unknown> {
  const name = textLike(NAME, 'the name of an operation or category')
  return v.lazy<Check<unknown>>((of) => (Array.isArray(of) ? listOf(name, 1, 1_000) : name))
}

function operationCheck(): Check<WrittenOperation> {
  return group<WrittenOperation>({
    category: optional(nameCheck()),
    cost: optional(v.unknown()),
    free: optional(oneOf(true, false)),
    overrun: optional(oneOf<OverrunPolicy>('refuse', 'charge', 'fit')),
    maxOverrun: optional(v.unknown()),
  })
}
