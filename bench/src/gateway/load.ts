import autocannon from 'autocannon'
import { type Contestant, median } from '../rounds.ts'
import { chartOf, type SeedOptions, tokenOf } from './seed.ts'

const CONNECTIONS = 32
const ENTRIES_AN_UPSERT = 20
/** The most players that send requests. The load prepares every request before a turn begins. */
const MOST_ASKING = 1_000
/** How often the load checks whether its time is over. */
const SAMPLE_MS = 100

export type Operation = 'read' | 'upsert'

interface Sent {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A contestant that also measures response times. */
export interface TimedContestant extends Contestant {
  /** The slowest 1 % of a turn took this long or longer, in milliseconds; the median of the turns so far. */
  p99Ms(): number
}

/** Requests of one kind. Each connection repeats those of its own players. */
export function requestsTo(name: string, url: string, operation: Operation, seeded: SeedOptions): TimedContestant {
  const asking = Math.min(seeded.players, MOST_ASKING)
  const requests = Array.from({ length: asking * 2 }, (_, index) => requestOf(operation, index, asking, seeded))
  const p99s: number[] = []
  return {
    name,
    p99Ms: () => median(p99s),
    async perSecondOver(durationMs) {
      let connection = 0
      const { non2xx, errors, timeouts, duration, latency, ...result } = await autocannon({
        url,
        method: 'POST',
        connections: CONNECTIONS,
        duration: durationMs / 1000,
        sampleInt: SAMPLE_MS,
        setupClient(client) {
          const turn = connection++ % asking
          client.setRequests(requests.filter((_, index) => Math.floor(index / 2) % CONNECTIONS === turn))
        },
      })
      if (non2xx + errors + timeouts > 0) {
        throw new Error(`${name}: ${non2xx} refused, ${errors} errors, ${timeouts} timed out`)
      }
      p99s.push(latency.p99)
      return result['2xx'] / duration
    },
  }
}

/** Each player appears twice in a row, with other scores, because an upsert of unchanged scores would write nothing. */
function requestOf(operation: Operation, index: number, asking: number, { players, scoresEach }: SeedOptions): Sent {
  const player = Math.floor(index / 2) * Math.floor(players / asking)
  const headers = { Authorization: `Bearer ${tokenOf(player)}`, 'Content-Type': 'application/json' }
  if (operation === 'read') return { path: '/v1/user/music', headers, body: '{}' }
  const musicList = Array.from({ length: ENTRIES_AN_UPSERT }, (_, entry) => ({
    ...chartOf((player + entry * 3) % scoresEach),
    achievement: 90 + (index % 2),
    dxScore: 1_000 + entry,
    comboStatus: 'fc',
  }))
  return { path: '/v1/music/upsert', headers, body: JSON.stringify({ musicList }) }
}
