import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One block of commands of the walkthrough, and what the page says that it prints. */
export interface Step {
  /** Where it is on the page. */
  readonly line: number
  readonly commands: string
  /** JSON where the page has JSON; text; nothing where it shows nothing. */
  readonly printed: unknown
  readonly isJson: boolean
}

export interface Walkthrough {
  /** The variables that the page has its reader set, by name. */
  readonly variables: ReadonlyMap<string, string>
  readonly steps: readonly Step[]
}

const BLOCK = /^```sh\n(?<commands>.*?)^```\n(?:\n```(?<kind>json|text)\n(?<printed>.*?)^```\n)?/gms

/** Stands for what the page leaves out. */
const LEFT_OUT = '...'

export function readWalkthrough(): Walkthrough {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/gateway/walkthrough.md'), 'utf8')
  const [start, setup, ...rest] = [...text.matchAll(BLOCK)]
  if (start?.groups?.commands !== 'npm start\n') throw new Error('expected the page to begin with npm start')
  const variables = [...(setup?.groups?.commands ?? '').matchAll(/^(\w+)=(\S+|'[^']*')(?: +#.*)?$/gm)]
  return {
    variables: new Map(variables.map(([, name = '', value = '']) => [name, value])),
    steps: rest.map(({ index, groups = {} }) => {
      const { commands = '', kind, printed = '' } = groups as Partial<Record<string, string>>
      const isJson = kind === 'json'
      return {
        line: text.slice(0, index).split('\n').length,
        commands,
        isJson,
        printed: isJson ? JSON.parse(printed) : printed,
      }
    }),
  }
}

/** What was printed, as far as the page shows it, without what differs from run to run: comparable with {@link shown}. */
export function asShown({ isJson, printed }: Step, output: string): unknown {
  return isJson ? shaped(JSON.parse(output), printed) : usual(output.trim())
}

/** What the page shows, without what differs from run to run. */
export function shown({ isJson, printed }: Step): unknown {
  return isJson ? shaped(printed, printed) : usual(String(printed).trim())
}

function shaped(actual: unknown, page: unknown): unknown {
  if (page === LEFT_OUT) return LEFT_OUT
  if (typeof actual === 'string') return usual(actual)
  if (Array.isArray(actual) && Array.isArray(page)) return shapedList(actual, page)
  if (isObject(actual) && isObject(page)) return shapedObject(actual, page)
  return actual
}

function shapedList(actual: readonly unknown[], page: readonly unknown[]): unknown[] {
  const isOpen = page.at(-1) === LEFT_OUT
  const kept = isOpen ? page.length - 1 : page.length
  const more = actual.slice(kept)
  return [
    ...actual.slice(0, kept).map((each, index) => shaped(each, page[index])),
    ...(isOpen && more.length > 0 ? [LEFT_OUT] : more),
  ]
}

function shapedObject(actual: object, page: object): object {
  const entries = Object.entries(actual)
  const shownOnes = entries.filter(([name]) => name in page && name !== LEFT_OUT)
  const others = entries.filter(([name]) => !(name in page) || name === LEFT_OUT)
  const more = LEFT_OUT in page && others.length > 0 ? [[LEFT_OUT, LEFT_OUT]] : others
  return Object.fromEntries([
    ...shownOnes.map(([name, value]) => [name, usualMember(name, shaped(value, Reflect.get(page, name)))]),
    ...more,
  ])
}

/** Numbers that stand for times. */
function usualMember(name: string, value: unknown): unknown {
  if (name === 'retryAfterSeconds') return Math.ceil(Number(value) / 60) * 60
  return name === 'bucketUnix' && typeof value === 'number' ? 'a time' : value
}

/** A text without its times, ids and credentials. */
function usual(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'an instant')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'a time')
    .replaceAll(/msg_[0-9a-f]{32}/g, 'an id')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'an id')
    .replaceAll(/\b(gw|bt|mk)_(?:\.\.\.|[\w-]{43}(?![\w-]))/g, 'a credential $1')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
