/**
 * Quotas for language model calls: middleware for the AI SDK, and a meter for any client. `@scoregw/quota-ai/mcp`
 * guards the tools of an MCP server.
 *
 * @module
 */
export { QuotaRefusedError, QuotaRepeatedError } from './errors.ts'
export {
  type ModelCall,
  type ModelMeter,
  type ModelMeterOptions,
  type ModelRequest,
  modelMeter,
} from './model-meter.ts'
export { type ModelTokens, promptTokens, type ReportedUsage, reportedTokens, textTokens } from './model-tokens.ts'
export { type ModelPrice, type PricedUnits, priced } from './prices.ts'
export { type AiRequest, type CallParams, type QuotaAi, type QuotaAiOptions, quotaAi } from './quota-ai.ts'
