import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { manifestOf, root } from '../workspace.mjs'

/** `test:bare` needs nothing installed here: it makes a system of its own. */
const { 'test:bare': _, ...others }: Record<string, string> = manifestOf('.').scripts
const scripts = Object.entries(others)

it.each(scripts)('the script %s starts with pnpm.mjs, which installs everything', (_, command) => {
  expect(command).toMatch(/^node scripts\/pnpm\.mjs /)
})

it('a command for some packages installs for all of them first', { timeout: 120_000 }, () => {
  const clone = mkdtempSync(join(tmpdir(), 'quota-clone-'))
  onTestFinished(() => rmSync(clone, { recursive: true }))
  const write = (path: string, content: object) => writeFileSync(join(clone, path), JSON.stringify(content))
  cpSync(join(root, 'scripts'), join(clone, 'scripts'), { recursive: true })
  cpSync(join(root, 'pnpm-workspace.yaml'), join(clone, 'pnpm-workspace.yaml'))
  for (const group of ['packages', 'examples', 'internal']) mkdirSync(join(clone, group))
  write('package.json', { name: 'clone', private: true, packageManager: manifestOf('.').packageManager })
  for (const name of ['one', 'other']) mkdirSync(join(clone, 'packages', name))
  write('packages/other/package.json', { name: 'other', dependencies: { one: 'workspace:^' }, version: '1.0.0' })
  write('packages/one/package.json', { name: 'one', version: '1.0.0', scripts: { build: 'node -p 40+2' } })

  const built = execFileSync('node', ['scripts/pnpm.mjs', '--filter', 'one', 'run', 'build'], {
    cwd: clone,
    encoding: 'utf8',
    // As a person's shell: without what the pnpm that runs this test says to scripts.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_/i.test(name))),
  })

  expect(built).toContain('42')
  expect(readFileSync(join(clone, 'packages/other/node_modules/one/package.json'), 'utf8')).toContain('one')
})
