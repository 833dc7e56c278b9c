import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as main from '../src/index.ts'

const folder = join(import.meta.dirname, '../src')
const files = readdirSync(folder).filter((file) => file.endsWith('.ts'))
const text = (file: string): string => readFileSync(join(folder, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
const EXPORT = /export (?:type )?\{([^}]*)\} from '[^']+'/g

/** The names of an entry, types included. */
function namesOf(file: string): readonly string[] {
  const lists = [...text(file).matchAll(EXPORT)].map(([, list = '']) => list.split(','))
  return lists.flat().flatMap((name) => name.trim().replace(/^type /, '') || [])
}

const entries = new Map(files.map((file) => [file, namesOf(file)]))
const promised = [...entries].filter(([file]) => file !== 'internal.ts').flatMap(([, names]) => names)

describe('the entries', () => {
  it('are exports from files, and nothing else', () => {
    for (const file of files) expect(text(file).replaceAll(EXPORT, '').trim(), file).toBe('')
  })

  it('have each name once', () => {
    const all = [...entries.values()].flat()
    expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([])
  })

  it('promise at most 230 names, the main one 60', () => {
    expect(promised.length).toBeLessThanOrEqual(230)
    expect(entries.get('index.ts')?.length).toBeLessThanOrEqual(60)
  })

  it('are those of the package', () => {
    const { exports } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8')) as { exports: object }
    const sources = Object.values(exports).flatMap((each: unknown) =>
      typeof each === 'object' && each !== null ? [(each as Record<string, unknown>)['@scoregw/source']] : [],
    )
    expect(sources.sort()).toEqual(files.map((file) => `./src/${file}`).sort())
  })
})

it('the main entry exports these values and no others', () => {
  expect(Object.keys(main).sort()).toMatchInlineSnapshot(`
    [
      "QuotaError",
      "QuotaWarning",
      "createQuota",
      "definePolicy",
      "isSyncQuota",
      "memorySettings",
      "memoryStore",
      "money",
      "parsePolicy",
    ]
  `)
})
