import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { Lines, Turns } from '../src/http/turns.ts'

/** Holds the event loop. */
function busy(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('turns of work', () => {
  it('a caller with many requests waits for one of each other caller', async () => {
    const turns = new Turns()
    const done: string[] = []
    const work = (name: string) => () => {
      busy(5)
      done.push(name)
    }
    for (let index = 0; index < 20; index++) turns.run('many', work(`many ${index}`))
    turns.run('few', work('few 0'))
    turns.run('few', work('few 1'))
    await turns.wait('last')
    expect(done.indexOf('few 0')).toBeLessThan(4)
    expect(done.indexOf('few 1')).toBeLessThan(6)
    while (done.length < 22) await new Promise(setImmediate)
    expect(done.filter((name) => name.startsWith('many'))).toEqual(Array.from({ length: 20 }, (_, i) => `many ${i}`))
  })

  it('the event loop runs other tasks between two pieces of work', async () => {
    const turns = new Turns()
    let hasLooked = 0
    const look = (): void => {
      hasLooked++
      if (hasLooked < 100) setImmediate(look)
    }
    setImmediate(look)
    for (let index = 0; index < 50; index++) turns.run('many', () => busy(1))
    await turns.wait('many')
    expect(hasLooked).toBeGreaterThan(8)
  })

  it('turns end when all waiting work is done and not earlier', async () => {
    const turns = new Turns()
    let hasLooked = 0
    const look = (): void => {
      hasLooked++
      if (hasLooked < 100) setImmediate(look)
    }
    turns.run('many', () => busy(5))
    setImmediate(look)
    const works = Array.from({ length: 20 }, async () => {
      await turns.wait('many')
      await Promise.resolve()
      busy(5)
    })
    await Promise.all(works)
    expect(hasLooked).toBeGreaterThan(8)
  })

  it('turns continue when work throws', async () => {
    const turns = new Turns()
    const thrown: unknown[] = []
    const listener = (error: unknown): void => {
      thrown.push(error)
    }
    turns.run('a', () => busy(5))
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', listener)
    turns.run('a', () => {
      throw new Error('broken')
    })
    await turns.wait('b')
    await turns.wait('a')
    process.removeAllListeners('uncaughtException')
    for (const each of others) process.on('uncaughtException', each)
    expect(thrown).toHaveLength(1)
  })
})

describe('the queue of a request', () => {
  it('a valid credential has its own queue, and other requests have their address’s', async () => {
    const lines = new Lines()
    const seen: string[] = []
    const server = createServer((req, res) => {
      seen.push(lines.of(req))
      if (req.headers['bot-token'] !== 'c') lines.welcome(req)
      res.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    for (const token of ['a', 'b', 'c', 'a', 'b', 'c'])
      await fetch(`http://127.0.0.1:${port}`, { headers: { 'Bot-Token': token } })
    server.close().closeAllConnections()
    expect(seen).toEqual(['address 127.0.0.1', 'address 127.0.0.1', 'address 127.0.0.1', 'a', 'b', 'address 127.0.0.1'])
  })
})
