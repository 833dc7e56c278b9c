import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RedisServer, startRedis } from '@scoregw/redis-server'

const run = promisify(execFile)

/** A Redis server whose instructions are counted by callgrind. */
export interface CountedServer {
  readonly server: RedisServer
  /** Resolves to the server's instructions while the work runs. */
  during(work: () => Promise<void>): Promise<number>
  stop(): Promise<void>
}

/** @throws if valgrind is not installed */
export async function startCounted(): Promise<CountedServer> {
  await run('callgrind_control', ['--version']).catch((error: unknown) => {
    throw new Error('no valgrind on PATH, which counts the instructions: install the package valgrind', {
      cause: error,
    })
  })
  const folder = await mkdtemp(join(tmpdir(), 'bench-callgrind-'))
  const under = ['valgrind', '--tool=callgrind', `--callgrind-out-file=${join(folder, 'out')}`, '--instr-atstart=no']
  // The server's own timer fires once per second, so it hardly counts.
  const server = await startRedis({ under, args: ['--hz', '1', '--dynamic-hz', 'no'] })
  const control = (...words: string[]) => run('callgrind_control', [...words, String(server.pid)])
  return {
    server,
    async during(work) {
      await control('--instr=on')
      await control('--zero')
      const [outcome] = await Promise.allSettled([work()])
      await control('--dump')
      await control('--instr=off')
      const total = await dumped(folder)
      if (outcome.status === 'rejected') throw outcome.reason
      return total
    },
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Reads the dumped counts, and removes the files. */
async function dumped(folder: string): Promise<number> {
  const files = (await readdir(folder)).filter((file) => /^out\.\d+$/.test(file))
  let total = 0
  for (const file of files) {
    const found = /^(?:totals|summary): (\d+)/m.exec(await readFile(join(folder, file), 'latin1'))
    total = Math.max(total, Number(found?.[1] ?? 0))
    await rm(join(folder, file))
  }
  if (total === 0) throw new Error('callgrind counted no instructions')
  return total
}
