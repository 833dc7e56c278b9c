import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../workspace.mjs'

function check(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'words-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'page.md')
  writeFileSync(path, text)
  return spawnSync(process.execPath, [join(root, 'scripts/check-words.mjs'), path], { encoding: 'utf8' })
}

it('a text above the budget is refused, with its counts and its file', () => {
  const { status, stderr } = check(`Who is told? Somebody is TOLD anew.${'\n'.repeat(100)}`)
  expect(status).toBe(1)
  expect(stderr).toContain('told 2, whoever 0, somebody 1, anew 1, thereafter 0')
  expect(stderr).toContain('4 ')
})

it('parts of words are not counted, and a text below the budget passes', () => {
  const { status, stdout } = check(`renewal, retold, anewly. Someone is told.${'\n'.repeat(10_000)}`)
  expect([status, stdout]).toEqual([0, expect.stringContaining('told 1, whoever 0, somebody 0, anew 0')])
})
