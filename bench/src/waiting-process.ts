// One of the waiting processes: `waiting-process.ts memory|redis|slots NAME CALLERS SECONDS PORT`. It sends `ready`,
// begins when its parent answers, and reports its figures. In memory each caller comes once, elsewhere repeatedly for so
// many seconds.
import { cpuUs } from './rounds.ts'
import { delay, MEMORY, OF_SLOTS, REDIS, WORK_MS } from './waiting/queues.ts'
import type { Seen } from './waiting/suite.ts'

const [, , where = '', name = '', callers = '', seconds = '', port = '0'] = process.argv
const make = { memory: MEMORY, redis: REDIS, slots: OF_SLOTS }[where]?.[name]
if (make === undefined) throw new Error(`no ${name} in ${where}`)
const start = await make(Number(port))
const work = where === 'slots' ? () => delay(WORK_MS) : () => undefined

/** The clock that all processes share. */
const now = (): number => performance.timeOrigin + performance.now()

process.once('message', async () => {
  const untilMs = now() + 1_000 * Number(seconds)
  const beforeUs = cpuUs()
  const starts: number[] = []
  const waits: number[] = []
  const comes = async (): Promise<void> => {
    const cameAt = now()
    await start(() => {
      const at = now()
      if (where !== 'memory' && at > untilMs) return
      starts.push(at)
      waits.push(at - cameAt)
      return work()
    })
  }
  const callsAgain = async (): Promise<void> => {
    do await comes()
    while (where !== 'memory' && now() < untilMs)
  }
  const all = Promise.all(Array.from({ length: Number(callers) }, callsAgain))
  await (where === 'memory' ? all : Promise.race([all, delay(untilMs - now())]))
  const seen: Seen = { starts, waits, cpuUs: cpuUs() - beforeUs }
  process.send?.(seen, () => process.exit())
})
process.send?.('ready')
