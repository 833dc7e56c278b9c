// Counts words that CONTRIBUTING.md asks to avoid, in sources, tests and pages together, and fails above a budget per 1,000
// lines. With paths as arguments it counts in those files only. Lower the budget when a sweep has made it possible.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { root } from './workspace.mjs'

const WORDS = ['told', 'whoever', 'somebody', 'anew', 'thereafter']
/** Of all words together, per 1,000 lines. */
const BUDGET = 0.4

const counts = Object.fromEntries(WORDS.map((word) => [word, 0]))
let lines = 0
const worst = []

for (const path of pathsToCount()) {
  const text = readFileSync(resolve(root, path), 'utf8')
  const found = text.match(new RegExp(`\\b(?:${WORDS.join('|')})\\b`, 'gi')) ?? []
  for (const word of found) counts[word.toLowerCase()]++
  lines += text.split('\n').length
  worst.push({ path, found: found.length })
}

function pathsToCount() {
  if (process.argv.length > 2) return process.argv.slice(2)
  const patterns = ['*.ts', '*.tsx', '*.vue', '*.mjs', '*.lua', '*.md']
  const files = execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  return files.filter((path) => !path.startsWith('scripts/check-words') && !path.startsWith('scripts/test/check-words'))
}

const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
const rate = (total * 1_000) / Math.max(1, lines)
const summary = `${WORDS.map((word) => `${word} ${counts[word]}`).join(', ')}: ${rate.toFixed(2)} per 1,000 lines`
if (rate > BUDGET) {
  console.error(
    `${summary}, more than ${BUDGET}. CONTRIBUTING.md, "Language", has the words to use. Most of them are in:`,
  )
  for (const { path, found } of worst.sort((a, b) => b.found - a.found).slice(0, 10))
    console.error(`  ${found} ${path}`)
  process.exitCode = 1
} else console.log(summary)
