// Sends the attacks from a separate process, so that they do not slow the measuring process.
import { hostileRequests, largestPush } from './bodies.ts'
import { CREDENTIALS } from './gateway.ts'
import { sendAtOnce, type Wire } from './send.ts'

/** The requests to send: a number of one shape, or of all shapes in turn. */
export interface Order {
  readonly gatewayUrl: string
  readonly syncUrl: string
  /** A shape's name; `all`; or `push`, the largest valid request of a bot. */
  readonly shape: string
  readonly by: 'user' | 'bot' | 'both'
  readonly count: number
}

const SHAPES = hostileRequests()
let players = 100_000

process.on('message', async (order: Order) => {
  process.send?.(await sendAtOnce(wiresOf(order)))
})

function wiresOf({ gatewayUrl, syncUrl, shape, by, count }: Order): Wire[] {
  if (shape === 'push') {
    return Array.from({ length: count }, () => {
      return { url: `${syncUrl}/api/bot/sync`, headers: CREDENTIALS.bot, body: largestPush(++players) }
    })
  }
  const meant = SHAPES.filter((each) => (shape === 'all' || each.name === shape) && (by === 'both' || each.by === by))
  const wires = meant.map(({ by: sender, encoding, body }): Wire => {
    return {
      url: sender === 'user' ? `${gatewayUrl}/v1/music/upsert` : `${syncUrl}/api/bot/sync`,
      headers: { ...CREDENTIALS[sender], ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }) },
      body,
    }
  })
  return Array.from({ length: count }, (_, index) => wires[index % wires.length] as Wire)
}

process.send?.('ready')
