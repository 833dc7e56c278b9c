// Counts lines of code by package, without blank lines and comments, and keeps the counts in `lines.json`.
// `--check` compares instead: it fails where a package is further from its committed count than SLACK, so that a small
// change needs no new counts, and a large one does.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { folders, root } from './workspace.mjs'

const COMMITTED = join(root, 'scripts/lines.json')
const SLACK = { lines: 100, files: 3 }

/** The parts of the table: folders, and which of their files are left out. */
const parts = {
  ...Object.fromEntries(
    folders
      .filter((folder) => existsSync(join(root, folder, 'src')))
      .map((folder) => [folder, { folder: `${folder}/src` }]),
  ),
  'packages/quota-redis without leases': { folder: 'packages/quota-redis/src', without: /^leases(?:\/|\.ts$)/ },
  docs: { folder: 'docs/.vitepress' },
}

const counted = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, countPart(part)]))
console.table(counted)
if (process.argv.includes('--check')) check()
else write()

function countPart({ folder, without }) {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(?:[cm]?[jt]sx?|vue|lua)$/.test(file))
    .filter((file) => !/(?:^|\/)(?:generated|cache|dist)\//.test(file) && without?.test(file) !== true)
  const lines = files.reduce((sum, file) => sum + countFile(file, readFileSync(join(root, folder, file), 'utf8')), 0)
  return { lines, files: files.length }
}

function countFile(file, text) {
  if (file.endsWith('.lua')) return countLua(text)
  return file.endsWith('.vue') ? countVue(text) : countScript(file, text)
}

/** Lines that hold a piece of the syntax: what TypeScript leaves out of its tree are blanks and comments. */
function countScript(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const lines = new Set()
  const visit = (node) => {
    if (ts.isJSDoc(node)) return
    const children = node.getChildren(source)
    if (children.length > 0) return children.forEach(visit)
    const start = node.getStart(source)
    const first = source.getLineAndCharacterOfPosition(start).line
    for (const [index, line] of text.slice(start, node.end).split('\n').entries()) {
      if (line.trim() !== '') lines.add(first + index)
    }
  }
  visit(source)
  return lines.size
}

/** The Lua of this repository has comments of whole lines. */
function countLua(text) {
  if (/--\[=*\[/.test(text)) throw new Error('lines.mjs: comments in Lua begin with -- on each of their lines')
  return nonBlank(text.replaceAll(/^\s*--.*$/gm, ''))
}

/** The script as TypeScript, the other blocks line by line. */
function countVue(text) {
  const scripts = [...text.matchAll(/(?<=<script[^>]*>)[\s\S]*?(?=<\/script>)/g)].map(([script]) => script)
  const others = scripts.reduce((rest, script) => rest.replace(script, () => ''), text)
  const inScripts = scripts.reduce((sum, script) => sum + countScript('script.ts', script), 0)
  return inScripts + nonBlank(others.replaceAll(/<!--[\s\S]*?-->|\/\*[\s\S]*?\*\//g, ''))
}

function nonBlank(text) {
  return text.split('\n').filter((line) => line.trim() !== '').length
}

function write() {
  const rows = Object.entries(counted).map(([name, count]) => {
    return `  ${JSON.stringify(name)}: { "lines": ${count.lines}, "files": ${count.files} }`
  })
  writeFileSync(COMMITTED, `{\n${rows.join(',\n')}\n}\n`)
}

function check() {
  const committed = JSON.parse(readFileSync(COMMITTED, 'utf8'))
  const names = new Set([...Object.keys(committed), ...Object.keys(counted)])
  const far = [...names].filter((name) => isFar(counted[name], committed[name]))
  for (const name of far) {
    console.error(`${name}: ${said(counted[name])}, scripts/lines.json has ${said(committed[name])}; run npm run lines`)
  }
  process.exitCode = far.length === 0 ? 0 : 1
}

function isFar(now, then) {
  if (now === undefined || then === undefined) return true
  return Object.entries(SLACK).some(([key, slack]) => Math.abs(now[key] - then[key]) > slack)
}

function said(count) {
  return count === undefined ? 'nothing' : `${count.lines} lines in ${count.files} files`
}
