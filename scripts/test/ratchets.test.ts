import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../workspace.mjs'

/** A folder with these files, the numbers of which are the limits. */
function projectOf(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'quota-ratchets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const check = (...options: string[]) => {
    const args = [join(root, 'scripts/ratchets.mjs'), '--root', folder, ...options]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  for (const [path, text] of Object.entries({ 'scripts/about.md': '', ...files })) write(path, text)
  expect(check('--lower')).toMatchObject({ status: 0, stderr: '' })
  return { write, check, limits: () => JSON.parse(readFileSync(join(folder, 'scripts/ratchets.json'), 'utf8')) }
}

it('one more house word is refused, with its place and what to write instead', () => {
  const { write, check } = projectOf({ 'page.md': 'Who is told?\n' })
  write('page.md', 'Who is told?\n\nThe caller is TOLD, and retold.\n')
  const { status, stderr } = check()
  expect(status).toBe(1)
  expect(stderr).toContain('words: told: 2, at most 1. Write: informed, reported')
  expect(stderr).toContain('  page.md:3: The caller is TOLD, and retold.')
})

it('fewer words pass, and only --lower keeps the new number', () => {
  const { write, check, limits } = projectOf({ 'page.md': 'Told, told, and told anew.' })
  expect(limits().words).toMatchObject({ told: 3, anew: 1 })
  write('page.md', 'Told anew. Someone is anew told.')
  expect(check('--lower').status).toBe(1)
  expect(limits().words).toMatchObject({ told: 2, anew: 1 })
  write('page.md', 'Renewal.')
  expect(check()).toMatchObject({ status: 0, stdout: expect.stringContaining('2 of them better') })
  expect(limits().words).toMatchObject({ told: 2, anew: 1 })
})

it('names are refused in sources of packages only', () => {
  const { write, check } = projectOf({ 'packages/one/src/a.ts': 'export interface HoldTerms {}\n' })
  write('packages/one/test/a.ts', 'export interface LimitTerms {}\n')
  expect(check().status).toBe(0)
  write('packages/one/src/b.ts', '\nexport interface LimitTerms {}\n')
  expect(check()).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('b.ts:2: export interface LimitTerms {}'),
  })
})

it('a larger share of long sentences is refused, in pages and in docstrings', () => {
  const long = `It ${'really '.repeat(20)}counts.`
  const code = `\`\`\`ts\n${long}\n\`\`\`\n`
  const { write, check, limits } = projectOf({
    'docs/guide/a.md': `# Heading\n\nOne. Two.\n\n${code}\n- A list\n- item`,
    'packages/one/src/a.ts': `/** Gives one. */\n// ${long}\nexport const a = 1\n`,
  })
  expect(limits()['long sentences, percent']).toEqual({ 'docs/guide': 0, 'packages/one/src': 0 })
  write('docs/guide/a.md', `# Heading\n\nOne. Two.\n\n${code}\n- A list\n- ${long}`)
  write('packages/one/src/a.ts', `/**\n * Gives one.\n *\n * ${long}\n */\nexport const a = 1\n`)
  const { status, stderr } = check()
  expect(status).toBe(1)
  expect(stderr).toContain('docs/guide: 25, at most 0')
  expect(stderr).toContain('  docs/guide/a.md:10: - It really')
  expect(stderr).toContain('packages/one/src: 50, at most 0')
  expect(stderr).toContain('  packages/one/src/a.ts:4: It really')
})

it('guides that address their reader less are refused', () => {
  const { write, check, limits } = projectOf({ 'docs/guide/a.md': "You've seen `your` limits; yours too." })
  expect(limits()['you per 1,000 words']).toEqual({ 'docs/guide': 333.3 })
  write('docs/guide/a.md', 'One has seen `your` limits; yours too.')
  expect(check()).toMatchObject({ status: 1, stderr: expect.stringContaining('at least 333.3') })
})

it('a second exported type of one name is refused, in one package only', () => {
  const { write, check } = projectOf({ 'packages/one/src/a.ts': 'export interface Hold {}\n' })
  write('packages/two/src/a.ts', 'export class Hold {}\n')
  expect(check().stderr).toContain('packages/two: no limit')
  expect(check('--lower').status).toBe(0)
  write('packages/one/src/b.ts', 'export type Hold = string\n')
  const { status, stderr } = check()
  expect(status).toBe(1)
  expect(stderr).toContain('packages/one: 1, at most 0')
  expect(stderr).toMatch(/packages\/one\/src\/a\.ts:1: Hold\n {2}packages\/one\/src\/b\.ts:1: Hold/)
})
