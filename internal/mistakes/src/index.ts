import { expect, it } from 'vitest'

/** A programmer's mistake, and the error it must cause. */
export interface Mistake {
  /** The call as programmers write it. */
  readonly written: string
  /** Makes the mistake: throws, or rejects. */
  readonly make: () => unknown
  /** The code of the error. */
  readonly code: string
  /** Parts that its message must contain: the place, and the fix. */
  readonly says: readonly string[]
}

/** The longest message that a programmer sees. */
const MAX_MESSAGE = 500

/**
 * Registers a test per mistake: the right code, one line with the place and the fix, never too long. Another test keeps
 * all texts in a file next to the test, so that you can read them together.
 *
 * @param file for example `./mistakes.txt`
 */
export function testMistakes(mistakes: readonly Mistake[], file: string): void {
  it.each(mistakes)('the mistake gets a clear error: $written', async ({ make, code, says }) => {
    const { code: reported, message } = await errorOf(make)
    expect(reported).toBe(code)
    for (const part of says) expect(message).toContain(part)
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE)
    expect(message).not.toMatch(/[\n\r]|Invalid input|nonoptional|\[object |undefined/)
  })

  it('every message equals the committed file', async () => {
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
