import { randomInt } from 'node:crypto'
import type { FoundList } from './json-scanner.ts'
import type { MeasuredBody } from './read-body.ts'

const BYTE_ORDER_MARK = '\uFEFF'

type Turn = () => Promise<void>

/**
 * Parses a body. Where it has a list, that is parsed piece by piece, and others have a turn between two of them.
 * @param name the list's
 * @param turn resolves when others have had theirs
 * @throws {SyntaxError} where `JSON.parse` does
 */
export async function parseBody(
  { bytes, scanner }: MeasuredBody,
  name: string | undefined,
  turn: Turn,
): Promise<unknown> {
  if (bytes.length === 0) return {}
  const { list } = scanner
  if (name === undefined || list === undefined || list.cuts.length === 0) return parsed(bytes.text(0, bytes.length))
  // The rest is parsed with a random number in place of the list: if it is there afterwards, the list is
  // what the name means, and not another member of the same name behind it.
  const stand = randomInt(2 ** 47)
  const body = parsed(`${bytes.text(0, list.start)}${stand}${bytes.text(list.end, bytes.length)}`)
  const found = (body as Record<string, unknown>)[name]
  const isList = Array.isArray(found) && found.length === 1 && found[0] === stand
  const entries = await entriesOf(bytes, list, turn)
  return isList ? { ...(body as object), [name]: entries } : body
}

async function entriesOf(
  bytes: MeasuredBody['bytes'],
  { start, end, cuts }: FoundList,
  turn: Turn,
): Promise<unknown[]> {
  const entries: unknown[] = []
  let from = start
  for (const to of [...cuts, end]) {
    await turn()
    const piece = JSON.parse(`[${bytes.text(from, to)}]`) as unknown[]
    if (piece.length === 0) throw new SyntaxError('a comma with nothing behind it')
    for (const entry of piece) entries.push(entry)
    from = to + 1
  }
  return entries
}

function parsed(text: string): unknown {
  return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
}
