import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const FIXTURE = join(import.meta.dirname, 'fixtures/replaced-promise.ts')
const DUE = [200, 200, 429]

it.each(['zone.js', 'bluebird'])('every adapter limits where %s has replaced the global Promise', async (library) => {
  const args = ['--conditions=@scoregw/source', '--import', 'tsx', FIXTURE, library]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, timeout: 100_000 })
  expect(JSON.parse(stdout)).toEqual({ ofExpress: DUE, ofFastify: DUE, ofFetch: DUE, ofHono: DUE, ofNest: DUE })
})
