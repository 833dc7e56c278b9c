/**
 * The score gateway's policy, and the error responses of its specification, byte for byte.
 *
 * @module
 */

export { type DefaultPolicyOptions, defaultPolicy } from './score-gateway/default-policy.ts'
export {
  BEIJING_TIME_ZONE,
  beijingText,
  type ScoreGatewayAnswers,
  type ScoreGatewayAnswersOptions,
  type ScoreGatewayBody,
  scoreGatewayAnswers,
} from './score-gateway/score-gateway-answers.ts'
