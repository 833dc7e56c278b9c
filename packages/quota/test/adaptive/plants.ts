import type { Outage, Plant } from './simulation.ts'

/** A plant with a name and a kind, which decides what it must keep to. */
export interface NamedPlant extends Plant {
  readonly name: string
  /** `cliff`: errors jump where the load passes what the service carries; `soft`: they grow smoothly with it. */
  readonly kind: 'cliff' | 'slow load' | 'changing' | 'soft' | 'healthy' | 'little traffic' | 'helpless'
}

type Rate = Plant['errorRate']

/** One rate up to what the service carries, another above. */
function cliff(carries: number, above: number, below = 0.001): Rate {
  return (load) => (load > carries + 1e-9 ? above : below)
}

/** One rate above 1.03, and 20 % above 1.27. */
function twoCliffs(above: number): Rate {
  return (load, minute) => Math.max(cliff(1.03, above)(load, minute), cliff(1.27, 0.2)(load, minute))
}

/** Drops what exceeds its room. */
function queue(carries: (minute: number) => number): Rate {
  return (load, minute) => 0.001 + Math.max(0, 1 - carries(minute) / load)
}

/** Grows exponentially from one rate at load 0.75 to another at 1.5. */
function soft(atLowest: number, atHighest: number): Rate {
  const growth = Math.log(atHighest / atLowest) / 0.75
  return (load) => Math.min(1, atLowest * Math.exp(growth * (load - 0.75)))
}

const ANY_LOAD =
  (rate: number): Rate =>
  () =>
    rate

/** So many outages of 20 to 60 minutes, spread over two days. */
function outages(count: number): (random: () => number) => Outage[] {
  return (random) =>
    Array.from({ length: count }, (_, index) => {
      const from = 60 + index * Math.floor(2580 / count) + Math.floor(random() * 120)
      return { from, to: from + 20 + Math.floor(40 * random()), rate: 0.2 + 0.4 * random() }
    })
}

/** A wave of one day's length, or another, between -1 and 1. */
function wave(minute: number, lengthMinutes = 1440): number {
  return Math.sin((2 * Math.PI * minute) / lengthMinutes)
}

const percent = (rate: number): string => `${+(100 * rate).toFixed(2)} %`
const USUAL = { callsPerMinute: 60, deadMinutes: 10, lagMinutes: 10 }

function slowErrors(carries: number, above: number, delay: number, callsPerMinute: number): NamedPlant[] {
  const name = `${percent(above)} above ${carries}, ${callsPerMinute} calls`
  const each = { kind: 'cliff', errorRate: cliff(carries, above), callsPerMinute, lagMinutes: 1 } as const
  return [
    { ...each, name: `${name}, errors lag ${delay} min`, errorLagMinutes: delay },
    { ...each, name: `${name}, errors ${delay} min late`, errorDeadMinutes: delay },
  ]
}

function slowLoad(carries: number, above: number, dead: number, lag = dead, callsPerMinute = 60): NamedPlant {
  return {
    kind: dead + lag >= 100 ? 'slow load' : 'cliff',
    name: `${percent(above)} above ${carries}, load ${dead} min late, lag ${lag} min`,
    errorRate: cliff(carries, above),
    callsPerMinute,
    deadMinutes: dead,
    lagMinutes: lag,
  }
}

/** Plants on which the constants of the law were chosen. */
export const TUNED_ON: readonly NamedPlant[] = [
  ...[5, 20, 60].flatMap((delay) => [
    ...slowErrors(0.92, 0.2, delay, 30),
    ...slowErrors(0.92, 0.2, delay, 200),
    ...slowErrors(1.08, 0.06, delay, 30),
    ...slowErrors(1.08, 0.06, delay, 200),
    ...slowErrors(1.27, 0.1, delay, 30),
    ...slowErrors(1.27, 0.1, delay, 200),
  ]),
  ...[5, 20, 60, 120].map((delay) => slowLoad(0.87, 0.2, delay)),
  ...[5, 20, 60, 120].map((delay) => slowLoad(1.08, 0.06, delay)),
  ...[5, 20, 60, 120].map((delay) => slowLoad(1.33, 0.1, delay)),
  {
    ...USUAL,
    kind: 'changing',
    name: 'queue of 0.85 to 1.45 over the day',
    errorRate: queue((t) => 1.15 + 0.3 * wave(t)),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: 'capacity 0.92 from hour 12 to 18',
    errorRate: (load, t) => (t >= 720 && t < 1080 && load > 0.92 ? 0.1 : 0.001),
  },
  {
    ...USUAL,
    kind: 'cliff',
    name: '1.5 % above 1.03, 20 % above 1.27',
    errorRate: twoCliffs(0.015),
  },
  {
    ...USUAL,
    kind: 'cliff',
    name: '3 % above 1.03, 20 % above 1.27',
    errorRate: twoCliffs(0.03),
  },
  { ...USUAL, kind: 'cliff', name: '8 % above 1.17, noise of 0.3 %', noise: 0.003, errorRate: cliff(1.17, 0.08, 0) },
  {
    ...USUAL,
    kind: 'changing',
    name: '10 % above 1.3, bursts of 1.25',
    burst: (t) => (t % 120 < 10 ? 1.25 : 1),
    errorRate: cliff(1.3, 0.1),
  },
  ...[3, 7, 10].flatMap((callsPerMinute): NamedPlant[] => [
    {
      ...USUAL,
      kind: 'little traffic',
      name: `15 % above 1.12, ${callsPerMinute} calls`,
      callsPerMinute,
      errorRate: cliff(1.12, 0.15),
    },
    {
      ...USUAL,
      kind: 'little traffic',
      name: `15 % above 0.93, ${callsPerMinute} calls`,
      callsPerMinute,
      errorRate: cliff(0.93, 0.15),
    },
  ]),
  { ...USUAL, kind: 'helpless', name: '5 % above 0.6', errorRate: cliff(0.6, 0.05) },
  { ...USUAL, kind: 'soft', name: '0.1 % to 4 %', errorRate: soft(0.001, 0.04) },
  { ...USUAL, kind: 'soft', name: '0.5 % to 30 %', errorRate: soft(0.005, 0.3) },
  {
    ...USUAL,
    kind: 'soft',
    name: '0.5 % to 30 %, 100 calls, 60 min',
    callsPerMinute: 100,
    deadMinutes: 60,
    lagMinutes: 60,
    errorRate: soft(0.005, 0.3),
  },
  ...[0.001, 0.004].map(
    (rate): NamedPlant => ({ ...USUAL, kind: 'healthy', name: percent(rate), errorRate: ANY_LOAD(rate) }),
  ),
  { ...USUAL, kind: 'healthy', name: '0.1 %, 10 calls', callsPerMinute: 10, errorRate: ANY_LOAD(0.001) },
  { ...USUAL, kind: 'healthy', name: 'noise of 0.2 %', noise: 0.002, errorRate: ANY_LOAD(0) },
  { ...USUAL, kind: 'changing', name: '0.8 % and an outage', outages: outages(1), errorRate: ANY_LOAD(0.008) },
  ...[3, 8].map(
    (count): NamedPlant => ({
      ...USUAL,
      kind: 'changing',
      name: `0.1 % and ${count} outages`,
      outages: outages(count),
      errorRate: ANY_LOAD(0.001),
    }),
  ),
]

/** Plants that were not seen while the constants were chosen. */
export const UNSEEN: readonly NamedPlant[] = [
  ...[10, 40].flatMap((delay) => [
    ...slowErrors(0.83, 0.05, delay, 50),
    ...slowErrors(0.97, 0.3, delay, 120),
    ...slowErrors(1.14, 0.15, delay, 40),
    ...slowErrors(1.37, 0.08, delay, 150),
  ]),
  {
    ...slowLoad(0.94, 0.1, 15, 15, 100),
    name: '10 % above 0.94, load and errors 15 min late, lag 15 min',
    errorDeadMinutes: 15,
    errorLagMinutes: 15,
  },
  {
    ...slowLoad(1.22, 0.25, 10, 30, 80),
    name: '25 % above 1.22, load lags 30 min, errors 30 min',
    errorLagMinutes: 30,
  },
  slowLoad(0.82, 0.05, 20, 20, 100),
  slowLoad(0.97, 0.3, 5, 5, 100),
  slowLoad(1.18, 0.04, 30, 10, 100),
  slowLoad(1.42, 0.12, 10, 40, 40),
  slowLoad(0.97, 0.3, 60, 60, 100),
  slowLoad(1.18, 0.2, 60, 60, 40),
  slowLoad(1.22, 0.05, 100, 50, 100),
  slowLoad(0.93, 0.1, 50, 100, 200),
  { ...USUAL, kind: 'cliff', name: 'queue of 1.10', callsPerMinute: 100, errorRate: queue(() => 1.1) },
  {
    ...USUAL,
    kind: 'cliff',
    name: 'queue of 1.10, 20 min',
    callsPerMinute: 100,
    deadMinutes: 20,
    lagMinutes: 20,
    errorRate: queue(() => 1.1),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: 'queue of 0.95 to 1.35 in 16 hours',
    callsPerMinute: 90,
    errorRate: queue((t) => 1.15 + 0.2 * wave(t, 960)),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: 'capacity 1.11, from hour 20 on 1.6',
    errorRate: (load, t) => (t < 1200 && load > 1.11 ? 0.08 : 0.001),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: '8 % above 1.21, calls by the day',
    callsPerMinute: 50,
    burst: (t) => 0.8 + 0.2 * wave(t),
    errorRate: cliff(1.21, 0.08),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: '12 % above 1.24, a burst of 1.4 each 5 hours',
    burst: (t) => (t % 300 < 15 ? 1.4 : 1),
    errorRate: cliff(1.24, 0.12),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: '10 % above 1.16 and 3 outages',
    outages: outages(3),
    errorRate: cliff(1.16, 0.1),
  },
  {
    ...USUAL,
    kind: 'little traffic',
    name: '10 % above 0.88, 5 calls',
    callsPerMinute: 5,
    errorRate: cliff(0.88, 0.1),
  },
  {
    ...USUAL,
    kind: 'little traffic',
    name: '20 % above 1.06, 15 calls',
    callsPerMinute: 15,
    errorRate: cliff(1.06, 0.2),
  },
  { ...USUAL, kind: 'soft', name: '0.2 % to 10 %', callsPerMinute: 100, errorRate: soft(0.002, 0.1) },
  { ...USUAL, kind: 'soft', name: '0.4 % to 20 %', errorRate: soft(0.004, 0.2) },
  { ...USUAL, kind: 'soft', name: '0.3 % to 30 %, 40 calls', callsPerMinute: 40, errorRate: soft(0.003, 0.3) },
  {
    ...USUAL,
    kind: 'soft',
    name: '0.1 % to 12 %, 40 min',
    deadMinutes: 40,
    lagMinutes: 40,
    errorRate: soft(0.001, 0.12),
  },
  { ...USUAL, kind: 'healthy', name: '0.2 %, 40 calls', callsPerMinute: 40, errorRate: ANY_LOAD(0.002) },
  { ...USUAL, kind: 'healthy', name: '0.3 %, 150 calls', callsPerMinute: 150, errorRate: ANY_LOAD(0.003) },
  {
    ...USUAL,
    kind: 'healthy',
    name: 'noise of 0.15 %, 150 calls',
    callsPerMinute: 150,
    noise: 0.0015,
    errorRate: ANY_LOAD(0),
  },
  {
    ...USUAL,
    kind: 'changing',
    name: '0.2 % and 5 outages',
    callsPerMinute: 120,
    outages: outages(5),
    errorRate: ANY_LOAD(0.002),
  },
]

/** Carries any load. */
export function healthy(errorRate: number, callsPerMinute: number): Plant {
  return { errorRate: ANY_LOAD(errorRate), callsPerMinute }
}

/** Every call of an hour may fail, then all is well again. */
export function withOutage(plant: Plant): Plant {
  return { ...plant, outages: () => [{ from: 30, to: 90, rate: 0.3 }] }
}
