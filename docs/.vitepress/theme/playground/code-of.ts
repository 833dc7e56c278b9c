import { definitionOf } from './definition-of.ts'
import { durationMs, operationAt, type Scenario, subjectOf } from './scenario.ts'

/** The widest line of code. */
const WIDTH = 48

/** A scenario as a program that runs as it is: its engine, and one request. */
export function codeOf(scenario: Scenario): string {
  const { limits, streams } = scenario
  const definition = definitionOf(scenario)
  const { subject = 'ann', operation: at = 0 } = streams[0] ?? {}
  const operation = operationAt(scenario, at)
  const asked = operation === undefined ? {} : { operation: operation.name }
  const request = { subject: subjectOf(scenario, subject), ...asked }
  const hasMoney = limits.some(({ unit, kind }) => unit === 'usd' && kind !== 'at once')
  const hasCalendar = limits.some(({ kind }) => kind === 'calendar')
  const tables = Object.entries(definition).flatMap(([key, table]) => [`  ${key}: {`, ...tableLines(table), '  },'])
  const lasts = durationMs(operation) > 0
  return [
    `import { createQuota${hasMoney ? ', money' : ''} } from '@scoregw/quota'`,
    ...(hasCalendar ? ["import { luxonCalendar } from '@scoregw/quota/calendar'"] : []),
    '',
    ...(hasMoney ? ["const usd = money('USD')"] : []),
    'const quota = createQuota({',
    ...tables,
    ...(hasCalendar ? ['  calendar: luxonCalendar(),'] : []),
    '})',
    '',
    ...(lasts ? reserved(request) : consumed(request)),
    '',
  ].join('\n')
}

function consumed(request: object): string[] {
  return [...called('const decision = await quota.consume', request), 'console.log(decision.allowed)']
}

/** With a limit at once, a request gives its slot back. */
function reserved(request: object): string[] {
  return [
    ...called('const reservation = await quota.reserve', request),
    'console.log(reservation.allowed)',
    'if (reservation.allowed) {',
    '  // the work',
    '  await reservation.commit()',
    '}',
  ]
}

/** A call, on one line where it fits. */
function called(call: string, request: object): string[] {
  const line = `${call}(${inline(request)})`
  if (line.length <= WIDTH) return [line]
  return [`${call}({`, ...Object.entries(request).map(([key, value]) => `  ${key}: ${inline(value)},`), '})']
}

/** The members of a table, each on one line where it fits. */
function tableLines(table: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string[] {
  return Object.entries(table).flatMap(([name, members]) => {
    const line = `    ${keyOf(name)}: ${inline(members)},`
    if (line.length <= WIDTH) return [line]
    const lines = Object.entries(members).map(([key, value]) => `      ${keyOf(key)}: ${inline(value)},`)
    return [`    ${keyOf(name)}: {`, ...lines, '    },']
  })
}

function inline(value: unknown): string {
  if (typeof value === 'number') return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, '_')
  if (typeof value !== 'object' || value === null) return `'${String(value)}'`
  if ('USD' in value) return `usd(${Number(value.USD)})`
  if ('money' in value) return 'usd'
  const members = Object.entries(value).map(([key, each]) => `${keyOf(key)}: ${inline(each)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
}
