import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { ITEM_KINDS } from './item.ts'

export const itemsBody = z.object({})

export const itemsAnswer = envelope(
  z.object({
    length: z.int(),
    userItemList: z.array(
      z.object({ itemKind: z.literal(ITEM_KINDS), itemId: z.int(), stock: z.int(), isValid: z.boolean() }),
    ),
  }),
)
