import type { NamedPlant } from './plants.ts'
import type { Plant } from './simulation.ts'

type Rate = Plant['errorRate']

const HOUR = 60
const USUAL = { callsPerMinute: 60, deadMinutes: 10, lagMinutes: 10 }

/** How much of the load exceeds what the service carries. */
function dropped(carries: (minute: number) => number, below = 0.001): Rate {
  return (load, minute) => (load === 0 ? below : below + Math.max(0, 1 - carries(minute) / load))
}

/** One rate up to a load, another above. */
function cliff(carries: number, above: number): Rate {
  return (load) => (load > carries + 1e-9 ? above : 0.001)
}

/**
 * A queue in front of the service: it takes what the service can't carry, and calls that wait longer than callers do fail.
 * The service works on them all the same, so errors last until the queue is empty.
 */
function queueWithTimeouts(carries: number, patienceMinutes: number): () => Rate {
  return () => {
    let waiting = 0
    return (load) => {
      waiting = Math.min(carries * 3 * patienceMinutes, Math.max(0, waiting + load - carries))
      const wait = waiting / carries
      return 0.001 + 0.6 * Math.min(1, Math.max(0, wait - patienceMinutes) / patienceMinutes)
    }
  }
}

const isNight = (minute: number): boolean => minute % (24 * HOUR) >= 16 * HOUR
/** From one level to another over two days. */
const drift = (from: number, to: number) => (minute: number) => from + ((to - from) * Math.max(0, minute)) / (48 * HOUR)

/** Services that were written before the law's last rules were, and on which no constant was chosen: a limit can help them. */
export const HELPED: readonly NamedPlant[] = [
  ...[
    [1.05, 60],
    [0.9, 120],
    [1.3, 30],
  ].map(
    ([carries = 1, callsPerMinute = 60]): NamedPlant => ({
      kind: 'cliff',
      name: `queue with time-outs of ${carries}`,
      callsPerMinute,
      deadMinutes: 5,
      lagMinutes: 5,
      errorRate: () => 0.001,
      makeErrorRate: queueWithTimeouts(carries, 1),
    }),
  ),
  { ...USUAL, kind: 'cliff', name: 'retried once, drops above 1.15', retries: 1, errorRate: dropped(() => 1.15) },
  {
    ...USUAL,
    kind: 'cliff',
    name: 'retried twice, drops above 1.2',
    callsPerMinute: 150,
    retries: 2,
    errorRate: dropped(() => 1.2),
  },
  { ...USUAL, kind: 'cliff', name: 'retried once, drops above 0.98', retries: 1, errorRate: dropped(() => 0.98) },
  { ...USUAL, kind: 'changing', name: 'carries 1.4, then less, down to 0.85', errorRate: dropped(drift(1.4, 0.85)) },
  { ...USUAL, kind: 'changing', name: 'carries 0.8, then more, up to 1.5', errorRate: dropped(drift(0.8, 1.5)) },
  {
    ...USUAL,
    kind: 'changing',
    name: 'leaks from 1.3 to 0.95, restarted every 12 hours',
    errorRate: dropped((minute) => 1.3 - (0.35 * (Math.max(0, minute) % (12 * HOUR))) / (12 * HOUR)),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: 'nights without calls, 10 % above 1.1',
    burst: (minute) => (isNight(minute) ? 0 : 1),
    errorRate: cliff(1.1, 0.1),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: 'nights with few calls, drops above 1.2',
    callsPerMinute: 100,
    burst: (minute) => (isNight(minute) ? 0.02 : 1),
    errorRate: dropped(() => 1.2),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: 'busy days, drops above 1.2',
    burst: (minute) => 0.9 + 0.4 * Math.sin((2 * Math.PI * minute) / (24 * HOUR)),
    errorRate: dropped(() => 1.2),
  },
  {
    ...USUAL,
    kind: 'cliff',
    name: '15 % above 0.95, 25 calls, errors lag 15 min',
    callsPerMinute: 25,
    errorLagMinutes: 15,
    errorRate: cliff(0.95, 0.15),
  },
  {
    ...USUAL,
    kind: 'little traffic',
    name: '12 % above 0.95, 4 calls',
    callsPerMinute: 4,
    errorRate: cliff(0.95, 0.12),
  },
  { ...USUAL, kind: 'little traffic', name: '30 % above 0.9, 2 calls', callsPerMinute: 2, errorRate: cliff(0.9, 0.3) },
]

/** Services whose errors no limit changes: the law should leave them near 1. */
export const HELPLESS: readonly NamedPlant[] = [
  { ...USUAL, kind: 'helpless', name: 'a bug of 3 %', errorRate: () => 0.03 },
  { ...USUAL, kind: 'helpless', name: 'a bug of 8 %, 200 calls', callsPerMinute: 200, errorRate: () => 0.08 },
  {
    ...USUAL,
    kind: 'helpless',
    name: 'a dependency that is away for 12 hours',
    callsPerMinute: 30,
    errorRate: (_, minute) => (minute >= 6 * HOUR && minute < 18 * HOUR ? 1 : 0.001),
  },
  {
    ...USUAL,
    kind: 'helpless',
    name: 'cold connections: 4 % below 0.9, and an outage',
    outages: () => [{ from: 4 * HOUR, to: 5 * HOUR, rate: 0.3 }],
    errorRate: (load) => (load < 0.9 ? 0.04 : 0.001),
  },
  {
    ...USUAL,
    kind: 'helpless',
    name: 'a bug of 5 % from hour 10 to 30',
    errorRate: (_, minute) => (minute >= 10 * HOUR && minute < 30 * HOUR ? 0.05 : 0.001),
  },
]
