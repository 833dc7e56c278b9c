// A setup file of all tests. A worker runs many files, one after the other: what a file leaves running or open stays until
// the worker ends, slows later files and makes them fail. So a file that leaves timers, TCP sockets or open files has failed.
// Programs may stay, with their pipes: servers and browsers are shared by a worker's files.
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll } from 'vitest'

/** What ends by itself has this long: connections whose other side is told, files and unread responses that are collected. */
const WAITS_MS = 20_000
const WATCHED = new Set(['Timeout', 'TCPSocketWrap', 'TCPServerWrap'])

const before = countLeft()

// What the first `beforeAll` returns runs after all else. Without a time limit, which would be one more timer.
beforeAll(() => wait, 0)

async function wait(): Promise<void> {
  let left = more()
  for (let waitedMs = 0; left.length > 0 && waitedMs < WAITS_MS; left = more()) {
    // Collecting takes long: once a second, and without waiting only for files, which are named by their paths.
    if (waitedMs % 1_000 === 0 && (waitedMs > 0 || left.some((what) => what.startsWith('/')))) globalThis.gc?.()
    await sleep(20)
    waitedMs += 20
  }
  if (left.length > 0)
    throw new Error(`This file leaves behind: ${left.join(', ')}. Close them in afterEach or afterAll.`)
}

/** What there is more of than before the file, with how many more. */
function more(): readonly string[] {
  return [...countLeft()]
    .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${what} (${count})`)
}

function countLeft(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const all = [...process.getActiveResourcesInfo().filter((name) => WATCHED.has(name)), ...openFiles()]
  for (const what of all) counts.set(what, (counts.get(what) ?? 0) + 1)
  return counts
}

/** Paths of open files, where the system tells them. SQLite's drivers keep a removed file until its statements are collected. */
function openFiles(): readonly string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd')
    .map((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`)
      } catch {
        return ''
      }
    })
    .filter((path) => path.startsWith('/') && !/^\/(?:dev|proc)\/| \(deleted\)$/.test(path))
}
