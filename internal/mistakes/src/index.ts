import { expect, it } from 'vitest'

/** A programmer's mistake, and the error it must cause. */
export interface Mistake {
  /** As they write it. */
  readonly written: string
  /** Makes it: throws, or rejects. */
  readonly make: () => unknown
  /** The code of the error. */
  readonly code: string
  /** What its message has to say: where it is, and what to do. */
  readonly says: readonly string[]
}

/** Longest message that a programmer is shown. */
const MAX_MESSAGE = 500

/**
 * One test a mistake (the right code, one line that says where and what to do, never too long), and one that keeps all
 * texts in a file beside the test, to be read as a whole.
 *
 * @param file for example `./mistakes.txt`
 */
export function testMistakes(mistakes: readonly Mistake[], file: string): void {
  it.each(mistakes)('$written', async ({ make, code, says }) => {
    const { code: reported, message } = await errorOf(make)
    expect(reported).toBe(code)
    for (const part of says) expect(message).toContain(part)
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE)
    expect(message).not.toMatch(/[\n\r]|Invalid input|nonoptional|\[object |undefined/)
  })

  it('every message, as in the file', async () => {
    const texts: string[] = []
    for (const { written, make } of mistakes) {
      const { code, message } = await errorOf(make)
      texts.push(`${written}\n  ${code}: ${message}\n`)
    }
    await expect(texts.join('\n')).toMatchFileSnapshot(file)
  })
}

interface Reported {
  readonly code: string
  readonly message: string
}

async function errorOf(make: () => unknown): Promise<Reported> {
  try {
    await make()
  } catch (error) {
    expect(error).toMatchObject({ name: 'QuotaError', docs: expect.stringContaining('/errors.md#') as string })
    return error as Reported
  }
  throw new Error('the mistake caused no error')
}
