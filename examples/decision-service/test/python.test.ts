import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createQuota } from '@scoregw/quota'
import { isExecutable, pathFolders, slowTests } from '@scoregw/server-kit'
import { expect, it } from 'vitest'
import { policy } from '../src/policy.ts'
import { decisionService } from '../src/service.ts'

const PAGE = join(import.meta.dirname, '../../../docs/guide/decision-service.md')

/** Python isn't part of this project: on a machine without it, the test is left out. */
const PYTHON = pathFolders()
  .map((folder) => join(folder, 'python3'))
  .find(isExecutable)

it.runIf(slowTests && PYTHON !== undefined)(
  'the page’s Python client reserves, commits, and prints the time to wait',
  async () => {
    const server = decisionService(createQuota({ policy })).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const page = await readFile(PAGE, 'utf8')
      const program = /```python\n(.*?)```/s.exec(page)![1]!.replace(':8181', `:${port}`)
      const run = async () => (await promisify(execFile)(PYTHON!, ['-c', program])).stdout
      expect(await run()).toMatch(/^\(200, \{'charged': 7/)
      // Twelve jobs that cost 7 leave 16: too few for an estimate of 20.
      for (let used = 7; used <= 80; used += 7) await run()
      expect(await run()).toMatch(/^wait \d+ seconds/)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
)
