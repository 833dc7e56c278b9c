import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { slowTests } from '@scoregw/server-kit'
import { expect, it, onTestFinished } from 'vitest'
import { chatServer, HOLD_MS } from '../src/server.ts'
import { playStory } from '../src/story.ts'

it.runIf(slowTests)(
  'six of twenty chats start, a dead one is given back, a long one leaves a debt, and a late bill is charged',
  async () => {
    const { app, models } = chatServer()
    const server: Server = app.listen(0)
    onTestFinished(() => {
      for (const model of models) model.kill('SIGKILL')
      server.close()
    })
    const lines: string[] = []
    const { port } = server.address() as AddressInfo
    const story = await playStory(`http://127.0.0.1:${port}`, models, (line) => lines.push(line))
    // A short one may have ended by then, and has spent what it held.
    expect(story).toMatchObject({ started: 6, refused: 14, whileAllSpeak: { used: 450, remaining: 50 } })
    expect(story.whileAllSpeak.held).toBeGreaterThanOrEqual(75)
    expect(story.backAfterMs).toBeLessThan(HOLD_MS + 1_000)
    expect(story.inTheEnd).toMatchObject({ limit: 500, used: 600, remaining: 0 })
    expect(lines[0]).toBe('20 chats at once: 6 start, 14 are told to wait')
    expect(lines).toContain("100 tokens of debt: the next chat waits for the window's end")
    // Four of 75 tokens, and one of 300; what the dead one had is back, its request and its money too.
    expect(story.spent).toEqual([5, 600, 600 * 60])
    expect(story.brokenOff).toBeGreaterThan(0)
    expect(story.brokenOff).toBeLessThanOrEqual(375)
    expect(story.lateBill).toMatchObject({ charged: { requests: 1, tokens: 10, usd: 600 } })
  },
  60_000,
)
