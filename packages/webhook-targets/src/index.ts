export { TargetProblem, checkAddress, checkAllowedTargets, checkDeniedTargets, isLoopbackName, readTarget, type Target, type TargetPolicy } from './target.ts';
