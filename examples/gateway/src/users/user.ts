import * as z from 'zod'

const ID_ERROR = 'expected an id of 1 to 128 printable characters without spaces and slashes, not . or ..'

/**
 * A user id is the subject of quotas and part of paths: 1 to 128 printable ASCII characters except spaces and slashes.
 * `.` and `..` are invalid, because clients can't request such paths.
 */
export const userIdSchema = z
  .string()
  .regex(/^[!-.0-~]{1,128}$/, ID_ERROR)
  .refine((id) => id !== '.' && id !== '..', ID_ERROR)
  .meta({ description: "A user's id.", example: 'demo' })

/** A name for people: only characters that any database can store and no terminal interprets. */
export const nameSchema = z
  .string()
  .refine(
    (name) => /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name),
    'expected 1 to 64 characters, none of them a control character',
  )
  // For programs that read patterns without the flag `u`.
  .meta({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' })
