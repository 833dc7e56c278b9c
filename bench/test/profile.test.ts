import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const flags = ['--conditions=@scoregw/source', '--import=tsx', `--import=${join(root, 'scripts/lua-as-text.mjs')}`]

test.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the profiler writes a profile and a page that shows it',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-profile-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const args = [...flags, join(root, 'bench/src/profile/main.ts'), 'memory', '--seconds', '0.5', '--out', folder]
    const { stdout } = await promisify(execFile)(process.execPath, args)

    const profile = await readFile(join(folder, 'memory.cpuprofile'), 'utf8')
    const { nodes, samples } = JSON.parse(profile) as { nodes: { callFrame: { functionName: string } }[]; samples: [] }
    expect(samples.length).toBeGreaterThan(100)
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('consumeSync')

    const page = await readFile(join(folder, 'memory.html'), 'utf8')
    const [, data = ''] = /localProfilePath=([^"]+)/.exec(page) ?? []
    const [, base64 = ''] = /, "(.+)"\)/.exec(await readFile(decodeURI(data), 'utf8')) ?? []
    expect(Buffer.from(base64, 'base64').toString()).toBe(profile)
    expect(stdout).toContain(join(folder, 'memory.html'))
  },
)
