import { parsePolicy, QuotaError } from '@scoregw/quota'
import { durationMs, type Limit, MOST, type Operation, type Scenario } from './scenario.ts'

/** A policy as `parsePolicy()` reads it, and the code shows it. */
export interface Definition {
  readonly limits: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly operations?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The policy of what the fields hold, with what isn't a number as it was typed: the engine names its faults. */
export function definitionOf({ limits, operations }: Scenario): Definition {
  const named = Object.fromEntries(limits.map((each) => [each.name, limitOf(each)]))
  if (operations.length === 0) return { limits: named }
  const units = new Set(limits.flatMap(({ kind, unit }) => (kind === 'at once' ? [] : [unit])))
  return {
    limits: named,
    operations: Object.fromEntries(operations.map((each) => [each.name, operationOf(each, units)])),
  }
}

function limitOf(limit: Limit): Record<string, unknown> {
  const { whose, kind, unit, per, every } = limit
  const owner = whose === 'everybody' ? { shared: 'service' } : { by: whose }
  const counted = limit.for === '' ? {} : { for: limit.for }
  if (kind === 'at once') return { ...owner, concurrency: numberOf(limit.amount), ...counted }
  const of = unit === 'requests' ? {} : { of: unit === 'usd' ? { money: 'USD' } : unit }
  const amount = { limit: amountOf(unit, limit.amount), ...of }
  if (kind === 'calendar') return { ...owner, ...amount, every, timeZone: 'UTC', ...counted }
  const burst = kind === 'bucket' ? { burst: amountOf(unit, limit.burst) } : {}
  return { ...owner, ...amount, per: per.trim(), ...burst, ...counted }
}

function operationOf(operation: Operation, units: ReadonlySet<Limit['unit']>): Record<string, unknown> {
  const priced = (['tokens', 'usd'] as const).filter((unit) => units.has(unit) && operation[unit].trim() !== '')
  const cost = Object.fromEntries(priced.map((unit) => [unit, amountOf(unit, operation[unit])]))
  const category = operation.category === '' ? {} : { category: operation.category }
  return priced.length === 0 ? category : { ...category, cost }
}

function amountOf(unit: Limit['unit'], text: string): unknown {
  if (text.trim() === 'unlimited') return 'unlimited'
  return unit === 'usd' ? { USD: text.trim() } : numberOf(text)
}

/** The number that was typed, `1,000` and `1_000` too; otherwise the text. */
function numberOf(text: string): number | string {
  const digits = text.trim().replaceAll(/[,_]/g, '')
  return /^-?\d+(?:\.\d+)?$/.test(digits) ? Number(digits) : text
}

/** The field of each member of a limit or operation. */
const FIELDS: Readonly<Record<string, string>> = {
  limit: 'amount',
  concurrency: 'amount',
  of: 'unit',
  shared: 'whose',
  by: 'whose',
  timeZone: 'every',
}

/** What is wrong, by field, such as `limits.0.amount`; of no field: by the empty text. */
export type Faults = ReadonlyMap<string, string>

export function faultsOf(scenario: Scenario): Faults {
  const own = new Map([...namesTwice(scenario), ...wrongSeconds(scenario)])
  if (own.size > 0) return own
  try {
    parsePolicy(definitionOf(scenario))
    return own
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    const { faults, message } = error
    if (faults.length === 0) return new Map([['', message]])
    return new Map(faults.map((fault) => [fieldOf(scenario, fault.path), fault.message]))
  }
}

/** A policy is a table by name, and can't have these. */
function namesTwice(scenario: Scenario): [string, string][] {
  return (['limits', 'operations'] as const).flatMap((list) => {
    const names = scenario[list].map(({ name }) => name)
    const twice = [...names.keys()].filter((at) => names.indexOf(names[at] ?? '') !== at)
    return twice.map((at): [string, string] => [`${list}.${at}.name`, 'another one has this name'])
  })
}

function wrongSeconds({ operations }: Scenario): [string, string][] {
  return operations.flatMap((operation, at) => {
    const seconds = durationMs(operation) / 1_000
    if (Number.isInteger(seconds) && seconds >= 0 && seconds <= MOST.seconds) return []
    return [[`operations.${at}.seconds`, `expected a whole number, at most ${MOST.seconds}`] as [string, string]]
  })
}

/** The field that a path of the policy comes from. */
function fieldOf(scenario: Scenario, path: string): string {
  const lists = (['limits', 'operations'] as const).flatMap((list) =>
    scenario[list].map(({ name }, at) => ({ path: `${list}.${name}`, field: `${list}.${at}` })),
  )
  const found = lists.find((each) => path === each.path || path.startsWith(`${each.path}.`))
  return found === undefined ? '' : `${found.field}.${memberField(path.slice(found.path.length + 1))}`
}

function memberField(path: string): string {
  const [member = '', unit] = path.split('.')
  if (member === 'cost') return unit === 'usd' ? 'usd' : 'tokens'
  return member === '' ? 'name' : (FIELDS[member] ?? member)
}
