import * as z from 'zod'

/** Somebody with an account. */
export interface User {
  readonly id: string
  readonly name: string
  readonly role: 'player' | 'admin'
}

/** An id is the subject of quotas and a part of paths: 1 to 128 printable ASCII characters without spaces and slashes. */
export const userIdSchema = z
  .string()
  .regex(/^[!-.0-~]{1,128}$/, 'expected an id of 1 to 128 printable characters without spaces and slashes')
