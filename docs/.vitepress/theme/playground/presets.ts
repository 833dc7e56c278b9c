import type { Limit, Operation, Scenario, Stream } from './scenario.ts'

function limit(name: string, given: Partial<Limit>): Limit {
  const plain = { whose: 'user', kind: 'window', amount: '100', unit: 'requests', per: '1h', burst: '', every: 'month' }
  return { name, ...plain, for: '', ...given } as Limit
}

function operation(name: string, given: Partial<Operation> = {}): Operation {
  return { name, category: '', tokens: '', usd: '', seconds: '', ...given }
}

/** @param rates requests per hour of ann, bob, cleo and dan, each of the operation of that place */
function streams(...rates: readonly (readonly [perHour: number, operation?: number])[]): Stream[] {
  const names = ['ann', 'bob', 'cleo', 'dan'] as const
  return rates.map(([perHour, at = 0], index) => ({ subject: names[index] ?? 'ann', operation: at, perHour }))
}

const common = { speedMs: 60_000, seed: 0 }

/** Scenarios to start from, each with something to see after forty minutes. */
export const PRESETS: Readonly<Record<string, Scenario>> = {
  'One limit': {
    limits: [limit('api', { amount: '20', per: '15m' })],
    operations: [],
    streams: streams([120], [45]),
    ...common,
  },
  'A user, a team and everybody': {
    limits: [
      limit('perUser', { amount: '40' }),
      limit('perTeam', { whose: 'team', amount: '60' }),
      limit('service', { whose: 'everybody', amount: '200' }),
    ],
    operations: [],
    streams: streams([60], [45], [90]),
    ...common,
  },
  'Reads and writes': {
    limits: [
      limit('reads', { amount: '60', for: 'read' }),
      limit('writes', { amount: '10', for: 'write' }),
      limit('perDay', { amount: '600', per: '1d' }),
    ],
    operations: [operation('list', { category: 'read' }), operation('save', { category: 'write' })],
    streams: streams([90, 0], [30, 1]),
    ...common,
  },
  'A language model: requests, tokens, money': {
    limits: [
      limit('perMinute', { amount: '20', per: '1m' }),
      limit('tokens', { amount: '100000', unit: 'tokens' }),
      limit('budget', { amount: '2.00', unit: 'usd', kind: 'calendar', every: 'month' }),
      limit('teamTokens', { whose: 'team', amount: '150000', unit: 'tokens' }),
    ],
    operations: [
      operation('chat', { tokens: '2000', usd: '0.009' }),
      operation('report', { tokens: '30000', usd: '0.12' }),
    ],
    streams: streams([60, 0], [6, 1]),
    ...common,
  },
  'Bursts: a token bucket': {
    limits: [limit('calls', { kind: 'bucket', amount: '60', per: '1h', burst: '10' })],
    operations: [],
    streams: streams([90], [30]),
    ...common,
  },
  'A monthly quota': {
    limits: [
      limit('monthly', { kind: 'calendar', amount: '1000', every: 'month' }),
      limit('daily', { kind: 'calendar', amount: '100', every: 'day' }),
    ],
    operations: [],
    streams: streams([180], [4]),
    ...common,
    speedMs: 3_600_000,
  },
  'Two at once': {
    limits: [limit('atOnce', { kind: 'at once', amount: '2', for: 'export' }), limit('perHour', { amount: '60' })],
    operations: [operation('export', { seconds: '300' }), operation('look')],
    streams: streams([30, 0], [20, 1]),
    ...common,
  },
  'Log-in': {
    limits: [
      limit('tries', { amount: '5', per: '15m' }),
      limit('perDay', { amount: '20', per: '1d' }),
      limit('allTries', { whose: 'everybody', amount: '100', per: '1m' }),
    ],
    operations: [operation('login')],
    streams: streams([30], [2]),
    ...common,
  },
}

export const FIRST = 'One limit'

/** The scenario that the page starts with. */
export function firstScenario(): Scenario {
  return JSON.parse(JSON.stringify(PRESETS[FIRST])) as Scenario
}
