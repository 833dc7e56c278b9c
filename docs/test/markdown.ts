import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the whole project. */
export const root: string = join(import.meta.dirname, '..', '..')

/** One block of code on a page. */
export interface Snippet {
  /** The page's path from the project's root. */
  readonly page: string
  /** Number of the block's first line of code. */
  readonly line: number
  readonly code: string
  /** What the block is marked as: TypeScript, or JavaScript as CommonJS has it, which is run and not type-checked. */
  readonly language: 'ts' | 'js'
  /** Whether it is run, or (marked `no-run`, or with a server that listens) only type-checked. */
  readonly run: boolean
  /** What it says that `console.log` prints, call by call. */
  readonly expected: readonly string[]
}

/** Every page of documentation that people wrote, by its path from the project's root. */
export function pages(): string[] {
  const isPage = (path: string): boolean =>
    path.endsWith('.md') && !/node_modules|^docs\/(?:api|\.vitepress)\//.test(path)
  // Not those of node_modules, where the workspace's packages link to each other.
  const inDocs = readdirSync(join(root, 'docs'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && entry.name !== 'node_modules'
      ? readdirSync(join(root, 'docs', entry.name), { recursive: true, encoding: 'utf8' }).map((path) =>
          join(entry.name, path),
        )
      : [entry.name],
  )
  const ofPackages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)
  const ofDocs = inDocs.map((path) => `docs/${path.replaceAll('\\', '/')}`)
  return [...readdirSync(root), ...ofPackages, ...ofDocs].filter(isPage).sort()
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** Code that tests run, by its path from the project's root. A page shows it as it is, and there it needs no second check. */
export const shownFiles: readonly string[] = [
  ...readdirSync(join(root, 'docs/code')).map((name) => `docs/code/${name}`),
  'examples/tenants/src/app.ts',
  ...['proxy', 'app/quota', 'app/scores/[id]/route'].map((name) => `examples/next/${name}.ts`),
  ...['quota', 'api', 'worker'].map((name) => `examples/shared-policy/src/${name}.ts`),
]
const tested = new Set(shownFiles.map((path) => readFileSync(join(root, path), 'utf8')))

const FENCE = /^```(?<language>ts|js)(?<flags>(?: [^\n]*)?)\n(?<code>.*?)^```$/gms

/** The blocks of a page that are marked `ts` or `js`, and that no test imports from a file of their own. */
export function snippetsOf(page: string): Snippet[] {
  const text = readPage(page)
  const blocks = [...text.matchAll(FENCE)].filter(({ groups }) => !tested.has(groups?.code ?? ''))
  return blocks.map(({ index, groups }) => {
    const { flags = '', code = '' } = groups ?? {}
    const language = groups?.language === 'js' ? 'js' : 'ts'
    const line = text.slice(0, index).split('\n').length + 1
    // A server would take a port that the machine may need.
    const run = flagged(flags.trim(), `${page}:${line - 1}`) && !code.includes('.listen(')
    return { page, line, code, language, run, expected: expectedOf(code) }
  })
}

/** Whether a block is run; `[Name]` is its tab in a group of blocks. */
function flagged(marks: string, where: string): boolean {
  const flags = marks.replace(/ ?\[[^\]]+\]$/, '')
  if (flags === '' || flags === 'no-run') return flags === ''
  throw new Error(`${where}: a block is marked \`ts\` or \`ts no-run\`, not \`ts ${flags}\``)
}

/** The texts after `// =>`; a comment line that is indented by three spaces or more goes on with the text above it. */
function expectedOf(code: string): string[] {
  const texts: string[] = []
  let open = false
  for (const line of code.split('\n')) {
    const text = /\/\/ => (.*)$/.exec(line)?.[1]
    const more: string | undefined = open ? /^\s*\/\/ {3,}(.*)$/.exec(line)?.[1] : undefined
    open = text !== undefined || more !== undefined
    if (text !== undefined) texts.push(text)
    if (more !== undefined) texts.push(`${texts.pop()} ${more}`)
  }
  return texts.map(oneLine)
}

/** A printed text without its line breaks and runs of blanks, in which `util.inspect` is free. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
