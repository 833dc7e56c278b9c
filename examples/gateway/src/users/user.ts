import * as z from 'zod'

const ID_ERROR = 'expected an id of 1 to 128 printable characters without spaces and slashes, not . or ..'

/**
 * An id is the subject of quotas and a part of paths: 1 to 128 printable ASCII characters without spaces and slashes. No
 * client can request a path whose part is `.` or `..`.
 */
export const userIdSchema = z
  .string()
  .regex(/^[!-.0-~]{1,128}$/, ID_ERROR)
  .refine((id) => id !== '.' && id !== '..', ID_ERROR)
  .meta({ description: "A user's id.", example: 'demo' })

/** What people call something: nothing that a database cannot store or a terminal would act on. */
export const nameSchema = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,64}$/u, 'expected 1 to 64 characters, none of them a control character')
