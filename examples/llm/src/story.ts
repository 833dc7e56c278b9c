import type { ChildProcess } from 'node:child_process'

/** One limit of the user, as `/me/quota` shows it. */
interface Usage {
  readonly unit: string
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly held?: number
}

/** The result of the story, in the order in which it happened. */
export interface Story {
  readonly started: number
  readonly refused: number
  readonly whileAllSpeak: Usage
  /** When all have ended but the one that was killed. */
  readonly afterTheLong: Usage
  /** Milliseconds from the kill until the tokens were back. */
  readonly backAfterMs: number
  readonly inTheEnd: Usage
  /** Tokens charged for an answer whose reader hung up. */
  readonly brokenOff: number
  /** The charge of a commit after its hold had expired. */
  readonly lateBill: { readonly charged: Readonly<Record<string, number>> }
  /** The user's final usage: requests, tokens, millionths of a dollar. */
  readonly spent: readonly number[]
}

const TIMEOUT_MS = 30_000

/**
 * Twenty chats of one user at once, each reserving 75 of 500 tokens. One of those that start costs 300, and one is killed.
 * Then another user of the team hangs up in the middle of an answer, and a bill comes after its hold has ended.
 *
 * @param models those at work, so that one can be killed
 */
export async function playStory(
  url: string,
  models: ReadonlySet<ChildProcess>,
  tell: (line: string) => void,
): Promise<Story> {
  const headersOf = (user: string) => ({ 'x-user': user, 'x-team': 'engines' })
  const headers = headersOf('ada')
  type Limits = Readonly<Record<'requests' | 'tokens' | 'budget', Usage>>
  const limitsOf = async (user: string): Promise<Limits> => {
    const response = await fetch(`${url}/me/quota`, { headers: headersOf(user) })
    return ((await response.json()) as { readonly limits: Limits }).limits
  }
  const usage = async (): Promise<Usage> => (await limitsOf('ada')).tokens
  const shown = ({ used, limit, held = 0 }: Usage): string => `${used} of ${limit} tokens used, ${held} of them held`

  // The first costs four times what it reserved; a model that would speak for ever is the one to be killed.
  const wordsOf = (chat: number): number => [300, 1_000_000][chat] ?? 75
  const chats = await Promise.all(
    Array.from({ length: 20 }, (_, chat) => fetch(`${url}/chat?words=${wordsOf(chat)}`, { method: 'POST', headers })),
  )
  const started = chats.filter(({ status }) => status === 200)
  const refused = chats.length - started.length
  tell(`20 chats at once: ${started.length} start, ${refused} are told to wait`)
  const whileAllSpeak = await usage()
  tell(shown(whileAllSpeak))

  // All but the killed one end by themselves.
  const ended = Promise.allSettled(started.map((response) => response.text()))
  const killed = await longestAtWork(models)
  killed.kill('SIGKILL')
  const killedAt = performance.now()
  tell('the model of one of them is killed')
  await ended
  const afterTheLong = await usage()
  tell(`the others have ended, one of them at 300 tokens: ${shown(afterTheLong)}`)
  const inTheEnd = await until(usage, ({ held = 0 }) => held === 0)
  const backAfterMs = performance.now() - killedAt
  tell(`the tokens of the killed one are back: ${shown(inTheEnd)}`)
  tell(`${inTheEnd.used - inTheEnd.limit} tokens of debt: the next chat waits for the window's end`)
  const { requests, tokens, budget } = await limitsOf('ada')
  const spent = [requests.used, tokens.used, budget.used]
  tell(`in all ${requests.used} requests, ${tokens.used} tokens, $${(budget.used / 1_000_000).toFixed(6)}`)
  const brokenOff = await hangUp()
  tell(`a reader hangs up: ${brokenOff} tokens were said until then, and are charged`)
  const lateBill = await billLate()
  tell(`a bill that comes late: ${lateBill.charged.tokens} tokens and ${lateBill.charged.usd} microdollars are charged`)
  return {
    started: started.length,
    refused,
    whileAllSpeak,
    afterTheLong,
    backAfterMs,
    inTheEnd,
    brokenOff,
    lateBill,
    spent,
  }

  /** Reads the first words of an answer without end, and hangs up. */
  async function hangUp(): Promise<number> {
    const reader = new AbortController()
    const chat = { method: 'POST', headers: headersOf('grace'), signal: reader.signal }
    const response = await fetch(`${url}/chat?words=1000000`, chat)
    await response.body?.getReader().read()
    reader.abort()
    const { tokens } = await until(
      () => limitsOf('grace'),
      ({ tokens: { used, held = 0 } }) => used > 0 && held === 0,
    )
    return tokens.used
  }

  /** Lets the hold of an answer end before its bill comes. */
  async function billLate(): Promise<Story['lateBill']> {
    const chat = { method: 'POST', headers: headersOf('alan') }
    await (await fetch(`${url}/chat?words=10&billed=later&answer=a1`, chat)).text()
    await until(
      () => limitsOf('alan'),
      ({ tokens }) => tokens.used === 0,
    )
    const bill = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
    const body = JSON.stringify({ tokens: 10, microusd: 600 })
    return (await (await fetch(`${url}/bill/a1`, { ...bill, body })).json()) as Story['lateBill']
  }
}

/** The only model left when all others have ended. */
async function longestAtWork(models: ReadonlySet<ChildProcess>): Promise<ChildProcess> {
  const [last] = await until(
    async () => [...models],
    ({ length }) => length === 1,
  )
  if (last === undefined) throw new Error('no model is at work')
  return last
}

async function until<T>(look: () => Promise<T>, isIt: (seen: T) => boolean): Promise<T> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    const seen = await look()
    if (isIt(seen)) return seen
    if (performance.now() > deadline) throw new Error(`not within ${TIMEOUT_MS} ms: ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
