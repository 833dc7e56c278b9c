import { Child } from '../child.ts'
import { progress } from '../progress.ts'
import { atMost, type Findings, type Target } from '../report.ts'
import { median, quantile } from '../rounds.ts'
import { hostileRequests } from './bodies.ts'
import { OTHER_USER, startVictim, type Victim } from './gateway.ts'
import type { Order } from './sender.ts'

const MIB = 1_048_576
/** The pause between two requests of the other user, in milliseconds. */
const EVERY_MS = 5

/**
 * Hostile requests, one by one and hundreds together: memory, how long the event loop is blocked, and the effect on
 * others.
 */
export async function hostile(quick: boolean): Promise<Findings> {
  console.log('hostile: requests that are made to cost, the gateway and who attacks it in processes of their own')
  const sender = new Child('hostile/sender.ts')
  await sender.next()
  try {
    const single = await withVictim((victim) => oneByOne(victim, sender, quick))
    const together = await withVictim((victim) => atOnce('as it is set up', victim, sender, quick))
    return { results: [], targets: [...single, ...together] }
  } finally {
    sender.stop()
  }
}

async function withVictim(use: (victim: Victim) => Promise<Target[]>): Promise<Target[]> {
  const victim = await startVictim({ LOG_LEVEL: 'warn' })
  try {
    return await use(victim)
  } finally {
    await victim.stop()
  }
}

type Sent = Omit<Order, 'gatewayUrl' | 'syncUrl'>

/** @returns how often each status came */
function send(sender: Child, { gatewayUrl, syncUrl }: Victim, sent: Sent): Promise<Record<number, number>> {
  return sender.answerTo({ gatewayUrl, syncUrl, ...sent } satisfies Order)
}

/** How long a single request of each shape blocks the event loop: the median of some. */
async function oneByOne(victim: Victim, sender: Child, quick: boolean): Promise<Target[]> {
  const times = quick ? 1 : 7
  const worst = { user: { name: '', cpuMs: 0 }, bot: { name: '', cpuMs: 0 } }
  const shapes = [...hostileRequests(), { name: 'push', by: 'bot' as const }]
  for (const { name, by } of shapes) {
    const cpuMs: number[] = []
    // The first requests run code that was not compiled yet.
    for (let time = 0; time < times + 2; time++) {
      await victim.longestBlock()
      await send(sender, victim, { shape: name, by, count: 1 })
      cpuMs.push((await victim.longestBlock()).cpuMs)
    }
    const usual = median(cpuMs.slice(2))
    console.log(`  ${by}, ${name}: ${usual.toFixed(1)} ms`)
    if (usual > worst[by].cpuMs) worst[by] = { name, cpuMs: usual }
  }
  return [
    atMost(`event loop held by one request of a user, ms (${worst.user.name})`, 20, worst.user.cpuMs),
    atMost(`event loop held by one request of a bot, ms (${worst.bot.name})`, 50, worst.bot.cpuMs),
  ]
}

/** The effect on others while hundreds of requests arrive together, repeatedly. */
async function atOnce(how: string, victim: Victim, sender: Child, quick: boolean): Promise<Target[]> {
  const rounds = quick ? 1 : 5
  const orders: Sent[] = [
    { shape: 'all', by: 'both', count: quick ? 40 : 500 },
    { shape: 'gzip: arrays in arrays', by: 'bot', count: 36 },
    { shape: 'gzip: members', by: 'bot', count: quick ? 36 : 400 },
    { shape: 'a text of 1 MiB', by: 'user', count: quick ? 36 : 400 },
  ]
  const quiet = await answersDuring(
    victim,
    () => new Promise<void>((resolve) => setTimeout(resolve, quick ? 100 : 3_000)),
  )
  await victim.longestBlock()
  const answers: Answered[] = []
  for (let round = 0; round < rounds; round++) {
    for (const order of orders) {
      answers.push(
        ...(await answersDuring(victim, async () => {
          const statuses = await send(sender, victim, order)
          progress(`${how}: ${order.count} of ${order.shape}: ${JSON.stringify(statuses)}`)
          if (statuses[500] !== undefined) throw new Error(`${order.shape}: an answer was 500`)
        })),
      )
    }
  }
  const { cpuMs, wallMs, peakBytes } = await victim.longestBlock()
  console.log(
    `  ${how}: event loop held ${cpuMs.toFixed(0)} ms of processor time, ${wallMs.toFixed(0)} by the clock; ` +
      `others' p99 ${p99(answers, 'tookMs').toFixed(1)} ms of ${answers.length}, ${p99(quiet, 'tookMs').toFixed(1)} in peace; ` +
      `meanwhile it ran ${p99(answers, 'ranMs').toFixed(1)} ms, ${p99(quiet, 'ranMs').toFixed(1)} in peace`,
  )
  return [
    atMost(`${how}: 500 at once, peak of memory, MiB`, 512, peakBytes / MIB),
    atMost(`${how}: 500 at once, others' /me/quota p99, ms`, 100, p99(answers, 'tookMs'), TWO_CORES),
  ]
}

const TWO_CORES = 'who sends the 500 shares the cores with who is asked: 91 ms in a run on a quieter machine'

/** The answers to the other user. */
interface Answered {
  readonly tookMs: number
  /** How long the gateway's main thread ran meanwhile, without the time of other processes. */
  readonly ranMs: number
}

/** Sends the other user's requests repeatedly while something happens. */
async function answersDuring(victim: Victim, during: () => Promise<void>): Promise<Answered[]> {
  const answers: Answered[] = []
  let isOver = false
  const answering = (async () => {
    while (!isOver) {
      const [startedAt, ranBefore] = [performance.now(), victim.ranMs()]
      const answer = await fetch(`${victim.gatewayUrl}/me/quota`, { headers: OTHER_USER })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`the other user was answered with ${answer.status}`)
      answers.push({ tookMs: performance.now() - startedAt, ranMs: victim.ranMs() - ranBefore })
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  })()
  await during().finally(() => {
    isOver = true
  })
  await answering
  return answers
}

function p99(answers: readonly Answered[], what: keyof Answered): number {
  return quantile(
    answers.map((answer) => answer[what]),
    0.99,
  )
}
