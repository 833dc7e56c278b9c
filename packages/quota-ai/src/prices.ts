import { QuotaError } from '@scoregw/quota'
import { type ModelTokens, totalTokens } from './model-tokens.ts'

/**
 * Prices of a model as providers list them: whole currency (dollars) per million tokens. The same number is millionths
 * of the currency (microdollars) per token.
 */
export interface ModelPrice {
  readonly input: number
  /** @default `input` */
  readonly cachedInput?: number | undefined
  /** @default `input` */
  readonly cacheWrite?: number | undefined
  readonly output: number
  /** @default `output` */
  readonly reasoning?: number | undefined
}

/** The units of a policy that {@link priced} counts. */
export interface PricedUnits<Tokens extends string, Money extends string> {
  /** @default 'tokens' */
  readonly tokens?: Tokens | undefined
  /**
   * Counts millionths of the prices' currency.
   *
   * @default 'microusd'
   */
  readonly money?: Money | undefined
}

/** Sums are in millionths of a microdollar, so that floating-point errors never add a microdollar. */
const SCALE = 1_000_000

/**
 * Returns a `cost` function for policies that count tokens and money. The cost in money is rounded up.
 *
 * @param prices by the id of a model
 * @throws {QuotaError} `invalid_options` for a price that is none; when called, for a model that has no price
 * @example
 * cost: priced({ 'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 } })
 */
export function priced<Tokens extends string = 'tokens', Money extends string = 'microusd'>(
  prices: Readonly<Record<string, ModelPrice>>,
  units: PricedUnits<Tokens, Money> = {},
): (tokens: ModelTokens, model: string) => Record<Tokens | Money, number> {
  const { tokens: tokensUnit = 'tokens', money: moneyUnit = 'microusd' } = units
  const byModel = new Map(Object.entries(prices).map(([model, price]) => [model, scaled(model, price)]))
  return (tokens, model) => {
    const price = byModel.get(model)
    if (price === undefined) {
      const known = [...byModel.keys()].join(', ')
      throw new QuotaError(
        'invalid_options',
        `no price for model ${JSON.stringify(model)}; there are prices for ${known}`,
      )
    }
    let money = 0
    for (const [kind, perToken] of price) money += tokens[kind] * perToken
    return { [tokensUnit]: totalTokens(tokens), [moneyUnit]: Math.ceil(money / SCALE) } as Record<
      Tokens | Money,
      number
    >
  }
}

function scaled(model: string, price: ModelPrice): readonly (readonly [keyof ModelTokens, number])[] {
  const { input, output, cachedInput = input, cacheWrite = input, reasoning = output } = price
  return Object.entries({ input, cachedInput, cacheWrite, output, reasoning }).map(([kind, value]) => {
    if (Number.isFinite(value) && value >= 0) return [kind as keyof ModelTokens, Math.round(value * SCALE)] as const
    const allowed = 'a number, 0 or more: the price of a million tokens'
    throw new QuotaError(
      'invalid_options',
      `priced: ${JSON.stringify(model)}.${kind} must be ${allowed}; it is ${String(value)}`,
    )
  })
}
