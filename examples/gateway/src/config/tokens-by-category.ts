import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { gatewayPolicy } from '../quota/policy.ts'

/** Tokens for every category, written `read=20000,write=8000`. */
export const tokensByCategory = z.string().transform((text, context): Readonly<Record<string, number>> => {
  const { categories } = gatewayPolicy
  const limits: Record<string, number> = {}
  const fault = (message: string): void => {
    context.addIssue({ code: 'custom', message })
  }
  for (const entry of text.split(',')) {
    const [category = '', tokens = ''] = entry.split(/=(.*)/s).map((part) => part.trim())
    if (!categories.includes(category)) fault(`expected category=tokens with the categories ${categories.join(', ')}`)
    else if (!/^\d{1,12}$/.test(tokens) || Number(tokens) > MAX_LIMIT) {
      fault(`expected ${category}=tokens with a whole number from 0 to ${MAX_LIMIT}`)
      limits[category] = 0
    } else if (limits[category] !== undefined) fault(`expected ${category} once`)
    else limits[category] = Number(tokens)
  }
  for (const category of categories.filter((each) => limits[each] === undefined)) {
    fault(`expected tokens for ${category} too`)
  }
  return limits
})
