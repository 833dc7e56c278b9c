/**
 * The score gateway's policy, and the error responses of its specification, byte for byte.
 *
 * @module
 */

export {
  BEIJING_TIME_ZONE,
  beijingText,
  type ScoreGatewayAnswers,
  type ScoreGatewayAnswersOptions,
  type ScoreGatewayBody,
  scoreGatewayAnswers,
} from './score-gateway/score-gateway-answers.ts'
export {
  type ScoreGatewayLimit,
  type ScoreGatewayPolicyOptions,
  scoreGatewayPolicy,
} from './score-gateway/score-gateway-policy.ts'
