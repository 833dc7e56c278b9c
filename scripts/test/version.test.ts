import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folders, manifestOf, published, root } from '../workspace.mjs'

it('a minor change gives every published package the next minor, and nothing else a version', {
  timeout: 120_000,
}, () => {
  const clone = mkdtempSync(join(tmpdir(), 'quota-versions-'))
  onTestFinished(() => rmSync(clone, { recursive: true }))
  for (const path of ['scripts', 'package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml'])
    cpSync(join(root, path), join(clone, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  for (const folder of folders) {
    mkdirSync(join(clone, folder), { recursive: true })
    cpSync(join(root, folder, 'package.json'), join(clone, folder, 'package.json'))
  }
  mkdirSync(join(clone, '.changeset'))
  const config = JSON.parse(readFileSync(join(root, '.changeset/config.json'), 'utf8')) as object
  // What names commits needs a repository.
  writeFileSync(join(clone, '.changeset/config.json'), JSON.stringify({ ...config, changelog: false }))
  writeFileSync(join(clone, '.changeset/one.md'), "---\n'@scoregw/quota': minor\n---\n\nSomething new.\n")
  const before = manifestOf('packages/quota').version.split('.')
  const next = `${before[0]}.${Number(before[1]) + 1}.0`

  execFileSync('node', ['scripts/version.mjs'], { cwd: clone })

  const text = (folder: string): string => readFileSync(join(clone, folder, 'package.json'), 'utf8')
  const wanted = (folder: string): string => readFileSync(join(root, folder, 'package.json'), 'utf8')
  for (const folder of published) {
    const version = `"version": "${manifestOf(folder).version}"`
    expect(text(folder), folder).toBe(wanted(folder).replace(version, `"version": "${next}"`))
  }
  for (const folder of folders.filter((each) => !published.includes(each)))
    expect(text(folder), folder).toBe(wanted(folder))
  expect(existsSync(join(clone, '.changeset/one.md'))).toBe(false)
})
