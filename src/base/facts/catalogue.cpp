#include <algorithm>
#include <array>

#include "base/facts/errors.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

using enum FactCode;
using enum FactKind;

// In the order of the enumeration; errors.hpp goes on. A sentence is a template; see render.cpp.
constexpr auto kReports = std::to_array<FactEntry>({
    // Free text, of methods and subsystems of users.
    {Custom, Note, "custom", "{text}", ""},
    {CustomWarning, Warning, "custom-warning", "{text}", ""},
    {CustomError, Error, "custom-error", "{text}", ""},
    // Runs: how the coupling is made.
    {LoopsSolved, Note, "loops-solved", "{loops} algebraic loop{loops~~s} solved at every communication time", ""},
    {LoopsDelayed, Note, "loops-delayed",
     "{loops} algebraic loop{loops~~s} delayed by one {?step|macro step (loops = \"delay\")}{!step|step}",
     "Write loops = \"solve\", if the method has that option"},
    {InputsHeldInside, Note, "inputs-held-inside",
     "inputs of '{0}' are held over its internal steps of {internal_step}, with their mean", ""},
    {InputDegreeLowered, Note, "input-degree-lowered",
     "{?role|{role}: }inputs of '{0}' lowered from degree {from} to {to} by mean-square fit{?substeps| on each of "
     "{substeps} sub-steps}{?fitted|; its outputs belong to the fitted inputs}",
     "Use a subsystem that takes input derivatives, write substeps = N, or choose a smaller step"},
    {SubstepsUnused, Note, "substeps-unused",
     "substeps = {substeps} of '{0}' have no effect: {?degree|it takes inputs of degree {degree} as they "
     "are}{!degree|its step may not be divided}",
     "Leave them out"},
    {InputsNotSmoothed, Note, "inputs-not-smoothed", "inputs of '{0}' not smoothed: it takes no cubic polynomials", ""},
    {CallingSequence, Note, "calling-sequence", "calling sequence ({origin}): {*:12}", ""},
    {ResidualPowerCorrection, Note, "residual-power-correction",
     "residual-power correction of {bonds} power bond{bonds~~s} with a gain of {gain}", ""},
    {NothingDelayed, Note, "nothing-delayed", "no output has feedthrough from a connected input: nothing is delayed",
     ""},
    {OutputsDelayed, Note, "outputs-delayed", "delayed by one step, and recorded so: {*}", ""},
    {SingleIntegrator, Note, "single-integrator",
     "one integrator for all equations ({integrator}, relative tolerance {relative_tolerance:g}); the step only sets "
     "the output times",
     ""},
    {StepFollowsIteration, Note, "step-follows-iteration",
     "adaptive: the step follows the iteration, not an error estimate", ""},
    {PredictorEstimates, Note, "predictor-estimates",
     "predictor: estimates with reconstruction = {reconstruction}, linearize = \"{linearize}\"", ""},
    {PredictorContinued, Note, "predictor-continued",
     "predictor: {steps} step{steps~~s} began with the polynomials of the step before, which were nearer than the "
     "estimates",
     ""},
    {CouplingEquations, Note, "coupling-equations",
     "coupling equations: {unknowns} unknowns, factored {factorizations} times", ""},
    {PowerBondsAmbiguous, Note, "power-bonds-ambiguous",
     "units do not determine the power bonds between '{0}' and '{1}': {efforts} with {flows}; write them in [bonds]",
     ""},
    {MethodChosen, Note, "method-chosen",
     "auto: {0}, because: {why}{?options_of|; the options of {options_of} in the file are left out}", ""},
    {MethodNotChosen, Note, "method-not-chosen", "auto: {0}, because no forecast was possible: {why}", ""},
    {CorrectionUsed, Note, "correction-used", "{*} corrected by {file}, learned to {error:.2g} of the range", ""},
    // Runs: trial steps.
    {TrialsEstimated, Note, "trials-estimated", "'{0}' is tried out by the costarica estimate", ""},
    {TrialsWithoutStateDerivatives, Note, "trials-without-state-derivatives",
     "{?role|{role}: }'{0}' provides no state derivatives: its trials are estimated without them, which may cost two "
     "orders",
     ""},
    {OutputsDependOnTimeAlone, Note, "outputs-depend-on-time-alone",
     "{?role|{role}: }'{0}' depends on time alone: its outputs are continued from their past", ""},
    {StatesContinued, Note, "states-continued",
     "{?role|{role}: }'{0}' provides no linearization: its states are continued from their last derivatives, outputs "
     "that are no states from their past; not sufficient for a stiff subsystem",
     "Choose a smaller step, or a method without trials"},
    {OutputsContinued, Note, "outputs-continued",
     "{?role|{role}: }'{0}' provides neither linearization nor state derivatives: its outputs are continued from their "
     "past",
     "Choose a smaller step, or a method without trials"},
    {SlopesFromOutputs, Note, "slopes-from-outputs",
     "{?role|{role}: }'{0}' provides no output derivatives: slopes come from its last outputs", ""},
    // Runs: how the run went.
    {OwnSteps, Note, "own-steps", "'{0}': {steps} step{steps~~s} of {smallest:.3g} .. {largest:.3g}, orders {orders}",
     ""},
    {EndsEarly, Note, "ends-early",
     "'{0}' ends at t = {time:.12g}: the time left is too short for another {which} step", ""},
    {ImposedStepLimitsError, Note, "imposed-step-limits-error",
     "'{0}': its imposed step limits the error ({beyond} of {steps} steps beyond the tolerance): {?free|a smaller "
     "tolerance only adds steps}{!free|all steps are imposed, no tolerance changes it}",
     ""},
    {StepsAtMinimum, Note, "steps-at-minimum",
     "'{0}': at {steps} steps of the minimal size, {min_step}, the step control requested a smaller step",
     "Lower min_step, or raise the tolerance"},
    {EstimatesPastValidity, Note, "estimates-past-validity",
     "'{0}' read an estimate past its validity on {steps} steps", ""},
    {OutputJumps, Note, "output-jumps",
     "'{0}': {jumps} unannounced jump{jumps~~s}{?late|, {late} seen up to a step late}",
     "Write the times: events = [...]"},
    {ReturnedEarly, Note, "returned-early", "'{0}' returned early {times} times and was stepped on", ""},
    {SignalJumps, Warning, "signal-jumps",
     "{count} unannounced jump{count~~s} of the signals, the first before t = {first}; the inputs were restarted "
     "there, but the step across has order 1. Write the times: events = [...]",
     ""},
    {EventsSeenLate, Warning, "events-seen-late",
     "{count} announced event{count~ lies~s lie} between two communication times and {count~is~are} seen late; the "
     "first: '{0}' at t = {first}. Choose a step that divides {count~its time~their times}",
     ""},
    {InputsBeyondTolerance, Warning, "inputs-beyond-tolerance",
     "after {steps} of {of} macro steps an input was further from its output than the tolerance; steps are not taken "
     "back",
     "Choose a smaller max_step or a smaller tolerance"},
    {ToleranceMissed, Warning, "tolerance-missed",
     "{count} steps of the smallest size missed the tolerance. Lower min_step", ""},
    {DiscreteValuesUnsettled, Warning, "discrete-values-unsettled",
     "discrete values do not settle at the start: after {rounds} rounds {*} still change, and the run begins with the "
     "values they have then",
     ""},
    // FMUs.
    {FmuNeedsTool, Warning, "fmu-needs-tool",
     "FMU '{0}': it needs the tool that made it on this machine (needsExecutionTool)", ""},
    {FmuClocksUnused, Warning, "fmu-clocks-unused",
     "FMU '{0}': its clocks are not used ({clocks}){?to_tick|, and as {to_tick} would have to be ticked from outside, "
     "its events are handled inside it}",
     ""},
    {FmuStatesUnused, Warning, "fmu-states-unused",
     "FMU '{0}': '{1}' is listed as a state derivative, but not of which state of its type and size, or not of the "
     "type of the others: its states are not used",
     ""},
    {FmuClaimWithdrawn, Warning, "fmu-claim-withdrawn", "FMU '{0}': it claims '{claim}', but {why}: this is not used",
     ""},
    {FmuClaimsUntried, Warning, "fmu-claims-untried",
     "FMU '{0}': it allows one instance per process, so its claims were not tested before the run", ""},
    {FmuOutputsAfterInitialization, Warning, "fmu-outputs-after-initialization",
     "outputs of '{0}' changed when its initialization ended; not all subsystems can be reset, so those that use them "
     "were "
     "initialised with the earlier values",
     ""},
    {FmuDerivativesRefused, Warning, "fmu-derivatives-refused",
     "'{0}' answered derivatives of order {order} of its inputs with a warning at t = {time}: from then on its inputs "
     "are "
     "{form} in a step",
     ""},
    {FmuNoBinary, Warning, "fmu-no-binary", "FMU '{0}': {why}", ""},
    {FmuInputsOfStepStart, Warning, "fmu-inputs-of-step-start",
     "FMU '{0}': after a step it holds the inputs of its start, and takes no others before it is read: its derivatives "
     "belong to those",
     ""},
    {FmuStepSizeUnknown, Warning, "fmu-step-size-unknown",
     "FMU '{0}': it requires steps of one size, but does not report which: it gets the macro step", ""},
    {FmuReturnedWarning, Warning, "fmu-returned-warning",
     "'{0}' returned a warning {times} times, first from {function} at t = {first}{message}", ""},
    // Files.
    {SettingsInAnnotation, Note, "settings-in-annotation",
     "method, steps, options and what is recorded are in an annotation ({annotation}), which other tools ignore", ""},
    // Verdict: what a run measured of itself.
    {RunKilled, Warning, "run-killed", "The run was killed, or is still going: its summary is that of its start",
     "Run it again"},
    {RunFailed, Warning, "run-failed", "The run failed{?why|: {why}}", ""},
    {RunInterrupted, Warning, "run-interrupted", "The run was interrupted{?why|: {why}}", ""},
    {NumbersNotFinite, Warning, "numbers-not-finite", "{count} recorded number{count~ is~s are} not finite",
     "Choose a smaller step or another method"},
    {NothingRecorded, Warning, "nothing-recorded", "Nothing was recorded", ""},
    {CorrectedInputs, Note, "corrected-inputs", "Learned inputs ({*}) have an error of {error:.2g} of the range", ""},
    {NothingConnected, Note, "nothing-connected", "Nothing is connected, so nothing can be coupled wrongly", ""},
    {ResidualNotMeasured, Warning, "residual-not-measured",
     "The coupling residual is not measured: no connection had both ends at one time after the start", ""},
    {ConnectionsNotMeasured, Note, "connections-not-measured",
     "{unmeasured} of {of} connections are not measured: their ends never communicated at the same time after the "
     "start",
     ""},
    {ResidualSmall, Note, "residual-small",
     "Inputs and outputs agree at the end of every step to {residual:.2g} of the output's range", ""},
    {ResidualUsuallySmall, Note, "residual-usually-small",
     "Coupling residual of every connection at most {usual:.2g} on {share} % of the steps; {residual:.2g}{?at| at "
     "{at}} near t = {time}",
     ""},
    {ResidualLargestStep, Warning, "residual-largest-step",
     "The largest coupling residual of a single step is {residual:.2g}{?at| at {at}} near t = {time}", ""},
    {HeldInputsChange, Warning, "held-inputs-change",
     "Inputs that are held change in a step by {?share|{residual:.2g} of the output's range or more{?at| at {at}} on "
     "{share:.2g} % of the steps}{!share|up to {residual:.2g} of the output's range{?at| at {at}}}; learn with half "
     "the step to see what that does",
     ""},
    {ResidualLarge, Warning, "residual-large",
     "Inputs differ from the outputs they stand for by {?share|{residual:.2g} of the output's range or more{?at| at "
     "{at}} on {share:.2g} % of the steps}{!share|up to {residual:.2g} of the output's range{?at| at {at}}}; {todo}",
     ""},
    {StepsNotJudged, Warning, "steps-not-judged", "Too few steps to judge whether they resolve the signals; {todo}",
     ""},
    {StepsTooLong, Warning, "steps-too-long",
     "The steps are {?wrong|too }long for {0}: within one its signal moves by {missed:.2g} of its range in a way that "
     "no input follows; {todo}",
     ""},
    {LoopStartResidual, Warning, "loop-start-residual", "An algebraic loop starts with a residual of {residual:.2g}",
     ""},
    {LastRowIncomplete, Warning, "last-row-incomplete", "The last row of the results is incomplete and left out", ""},
    {CapabilitiesTakenAway, Note, "capabilities-taken-away", "Taken away in the system file: {what}", ""},
    // Choice of a method.
    {SmallestForecastError, Note, "smallest-forecast-error",
     "smallest forecast error for its cost, by the motion of the first {seen:.3g}: {error:.2g} of the range of the "
     "worst output at this step{?unchecked|, as far as the subsystems integrate exactly{?nonlinear| and the system "
     "stays as it is at the start}}{?measured| (but in a run over {measured_over:.3g} half the step changes "
     "{measured:.2g} where {measured_forecast:.2g} is forecast: the subsystems do not integrate as exactly as a "
     "forecast assumes, and the error will be larger)}, spectral radius {radius:.6g}{?large|; that is large}{?grows|; "
     "it grows, as with every other method that can be forecast}{?better_step|: with {better_step:.3g} it would be "
     "{better_error:.2g}}{?smallest_step|, and no step down to {smallest_step:.3g} corrects it}",
     ""},
    {CannotBeTakenBack, Note, "cannot-be-taken-back",
     "'{0}' cannot be taken back, and estimates do not show what it does at events of its own", ""},
    {IterationsDisagree, Note, "iterations-disagree",
     "in a run over {length:.3g} {0} does not agree with finer steps of {1}", ""},
    {NoForecast, Note, "no-forecast", "{why}", ""},
    {NoPilotRun, Note, "no-pilot-run", "no pilot run for a forecast: {why}", ""},
    {NoLinearization, Note, "no-linearization", "'{0}' provides no linearization", ""},
    {LinearizationUsed, Note, "linearization-used",
     "so no errors are forecast; every subsystem provides its linearization", ""},
    {NoErrorForecast, Note, "no-error-forecast", "no error could be forecast", ""},
    {RatesUnknown, Note, "rates-unknown", "not every subsystem provides the rates of its states", ""},
    {MethodObstacle, Note, "method-obstacle", "{why}", ""},
    {ActsOneWay, Note, "acts-one-way",
     "no subsystem acts back on those that feed it, so each is called after its sources", ""},
    {IterationsPossible, Note, "iterations-possible",
     "every subsystem can be tried, so iterations make the coupling consistent", ""},
    {InputsContinuedLinearly, Note, "inputs-continued-linearly", "inputs are continued linearly, or by their mean", ""},
    {NoOtherMethod, Note, "no-other-method", "no other method can: {why}", ""},
    {TooManySignals, Note, "too-many-signals",
     "every subsystem provides its linearization; {signals} states, inputs and outputs are too many for a quick "
     "forecast",
     ""},
    {DependsOnTime, Note, "depends-on-time", "'{0}' depends on time, which a linearization does not show", ""},
    {HasEvents, Note, "has-events", "'{0}' has events, which a linearization does not show", ""},
    {AnnouncesEvents, Note, "announces-events", "'{0}' announces events, which a linearization does not show", ""},
    {NothingCoupled, Note, "nothing-coupled", "nothing is coupled: the plainest method is sufficient", ""},
    {NoRealsCoupled, Note, "no-reals-coupled",
     "no real numbers are passed on, and every method holds the others: the plainest method is sufficient", ""},
    {PilotNotFinite, Note, "pilot-not-finite", "the pilot run with {0} is no longer finite at {time:.6g}", ""},
    {PilotFailed, Note, "pilot-failed", "the pilot run with {0} failed: {why}", ""},
    {PilotWithSmallerStep, Note, "pilot-with-smaller-step",
     "a step of {step:.3g} is too long to follow the motion: it is that of a pilot run with {smaller:.3g}", ""},
    // Advice: reasons.
    {SmallestError, Note, "smallest-error",
     "smallest {basis}{?length|, measured over {length:.3g}}: {error:.2g} of the range of the worst output", ""},
    {SmallErrorAndDefect, Note, "small-error-and-defect",
     "{basis}{?length|, measured over {length:.3g}}: {error:.2g} of the range of the worst output, hardly more than "
     "{0} with {other:.2g}; but the inputs of subsystems with imposed steps, which no run refines, are {defect:.2g} of "
     "their range from their sources instead of {other_defect:.2g}",
     ""},
    {SmallErrorAndForecast, Note, "small-error-and-forecast",
     "{basis}{?length|, measured over {length:.3g}}: {error:.2g} of the range of the worst output, hardly more than "
     "{0} with {other:.2g}; but the forecast share of the coupling is {coupling:.2g} instead of {other_coupling:.2g}",
     ""},
    {NextBest, Note, "next-best", "next is {0} with {error:.2g}", ""},
    {EqualCostRuns, Note, "equal-cost-runs",
     "in runs of equal cost over {length:.3g} {0} has an error of {?at_most|at most }{error:.2g} of the range of the "
     "worst output, {1} (step {step:.3g}) of {?other_at_most|at most }{other:.2g}{?won|, the best of the others}",
     ""},
    {NoMethodCompleted, Note, "no-method-completed", "no method completed a brief run; see the remarks", ""},
    {NoMethodFinite, Note, "no-method-finite", "no method stays finite over {length:.3g} at a step of {step:.3g}", ""},
    {OnlyOwnSteps, Note, "only-own-steps",
     "no other method stays finite over {length:.3g} at a step of {step:.3g}; {0} chooses its own steps", ""},
    {NoOtherCompleted, Note, "no-other-completed", "no other method completed a brief run", ""},
    {GrowsAtEveryStep, Note, "grows-at-every-step",
     "it grows at every step; with the best, {0}, a disturbance is multiplied by {radius:.4g} in every macro step",
     "Choose another method or change the coupling"},
    {BestIsUseless, Note, "best-is-useless",
     "the best, {0}, has an error of {error:.2g} times the range of the worst output at a step of {step:.3g}",
     "Choose a smaller step"},
    {BetterAtSmallerStep, Note, "better-at-smaller-step",
     "at {step:.3g} no method has an error below {tolerance:g}; at {smaller:.3g}, and equal cost, {0} has the smallest "
     "forecast error: {error:.2g} of the range of the worst output",
     ""},
    {StepConfirmed, Note, "step-confirmed", "runs at h, h/2 and h/4 confirm the step: {error:.2g}", ""},
    {StepConfirmedAbove, Note, "step-confirmed-above",
     "with this step {forecast:.2g} is forecast, but runs at h, h/2 and h/4 show {error:.2g}", ""},
    {StepConfirmedInPart, Note, "step-confirmed-in-part",
     "runs at h, h/2 and h/4 agree to {error:.2g} with this step, except for what the steps of {*} cost, which they "
     "have in common{?forecast|; with these {forecast:.2g} is forecast}",
     ""},
    // Advice: what limits it.
    {OptionsNotJudged, Note, "options-not-judged",
     "{*} of {method} in the file {options~is~are} not judged: methods are compared with their defaults", ""},
    {NoStepMatrix, Note, "no-step-matrix", "{why}: no step matrix, so nothing is forecast", ""},
    {ForecastFailed, Note, "forecast-failed", "{?candidate|{candidate}: }{why}", ""},
    {NothingToSearch, Note, "nothing-to-search", "nothing to search: no step matrix is known", ""},
    {NoSearch, Note, "no-search", "no search: imposed steps leave few steps to choose from", ""},
    {SearchReduced, Note, "search-reduced",
     "the search leaves out {*}: step matrices of this network have up to {rows} rows", ""},
    {SearchedByGrid, Note, "searched-by-grid",
     "every sequence and degree on a grid of {steps} steps{?gains| and {gains} gains}: {judged} couplings judged", ""},
    {SearchedPlainly, Note, "searched-plainly", "plain methods on a grid of {steps} steps: {judged} couplings judged",
     ""},
    {SearchedByEvolution, Note, "searched-by-evolution",
     "NSGA-II over sequence, {gains} gains, degree and step, {generations} generations of {population}: {judged} "
     "couplings judged",
     ""},
    {BriefRunFailed, Note, "brief-run-failed",
     "{runs~a brief run~brief runs} with {*} ended{?same| in the same way}{!same|: {why}}", ""},
    {StartFailed, Note, "start-failed", "{why}", ""},
    {NotCompared, Note, "not-compared", "{0} was not compared: {why}", ""},
    {ForecastRefuted, Note, "forecast-refuted",
     "{0} has an error of {error:.2g} in a short run where {forecast:.2g} is forecast: {?points|the system is too far "
     "from linear, or }the subsystems do not integrate as exactly as a forecast assumes; errors are measured in short "
     "runs",
     ""},
    {NothingToVerify, Note, "nothing-to-verify",
     "nothing to verify: no error is forecast, so errors are measured anyway", ""},
    {NoErrorShown, Note, "no-error-shown", "runs with {0} show no error to compare with the forecast", ""},
    {NotMeasured, Note, "not-measured", "nothing is measured beside the forecast of {0}: {why}", ""},
    {NoStepKeepsForecast, Note, "no-step-keeps-forecast",
     "no step of {0} down to {step:.3g} keeps in runs the error of {tolerance:g} that is forecast", ""},
    {NoStepKeepsTolerance, Note, "no-step-keeps-tolerance",
     "no step of {0} down to {step:.3g} keeps an error of {tolerance:g}", ""},
    {NoStepOwnSteps, Note, "no-step-own-steps", "no step is recommended: {0} chooses its own, by its tolerances", ""},
    {NoStepTooLong, Note, "no-step-too-long",
     "no step is recommended: errors are measured here, and runs with {step:.3g} and its parts that could confirm it "
     "would take too long",
     ""},
    {NoStepShown, Note, "no-step-shown",
     "no step is recommended: errors are measured here, and runs do not show that steps from {longest:.3g} down to "
     "{step:.3g} keep {tolerance:g}",
     ""},
    {StepNotConfirmed, Note, "step-not-confirmed", "the step of {step:.3g} is not confirmed by runs: {why}", ""},
    {GrowsWithEveryMethod, Note, "grows-with-every-method",
     "{?smallest|the coupling grows with every method of which it can be forecast, at every step from {smallest:.3g} "
     "on: it is unstable}{!smallest|at this step the coupling grows with every method of which it can be forecast}",
     "Choose a smaller step, or change the coupling"},
    {NoParameterLimits, Note, "no-parameter-limits", "no limits of parameters: no step matrix is known", ""},
    {StabilityOnly, Note, "stability-only", "{driven}: stability is forecast, errors are measured in short runs", ""},
    // Advice: what would allow a better one.
    {LinearizationMissing, Note, "linearization-missing",
     "'{0}' provides no linearization; with it errors could be forecast", ""},
    {StateDerivativesMissing, Note, "state-derivatives-missing",
     "'{0}' provides no state derivatives; with them errors could be forecast", ""},
    {StatesMissing, Note, "states-missing", "'{0}' exposes no states; with them {method} would reach its full order",
     ""},
    {PolynomialInputsMissing, Note, "polynomial-inputs-missing",
     "'{0}' takes constant inputs only; polynomials (or substeps) would be nearer to the signals", ""},
    {CommonStepMissing, Note, "common-step-missing",
     "a macro step of {step}, which every imposed step divides; with it {methods} can run it", ""},
    // Verification.
    {ImposedStepUnseen, Note, "imposed-step-unseen",
     "'{0}' imposes a step of {step} in all three runs: what that costs is not seen", ""},
    {StepsNotRefined, Note, "steps-not-refined",
     "{0} made {steps} macro steps: the finer runs are hardly finer, so what they have in common is not seen", ""},
    {WarningsGrow, Warning, "warnings-grow",
     "the smaller the steps, the more there is to warn of: {warning}. So the coupling causes it, and the runs can "
     "agree on a motion that the system does not make; choose another method",
     ""},
    {ResidualStays, Warning, "residual-stays",
     "inputs differ from the outputs they stand for by {first:.2g} of the range at {0}, and with a quarter of the step "
     "by {finest:.2g}: the coupling does not become consistent",
     ""},
    {RunWarns, Note, "run-warns", "the run with {step} warns{?only_first|, the finest does not}: {warning}", ""},
    {StepsByTolerance, Note, "steps-by-tolerance",
     "{0} chooses its steps by {tolerances}: the finer runs divide {count~it~them} by 4 and 16 too, and the order is "
     "per such refinement",
     ""},
    // Comparison.
    {RunEndedEarly, Note, "run-ended-early", "{0} {how}", ""},
    {RowLeftOut, Note, "row-left-out", "{0} ends in the middle of a row, which is left out", ""},
    {NoRows, Note, "no-rows", "{0} has no rows", ""},
    {ComparedInPart, Note, "compared-in-part",
     "{0} is compared over t = {from} .. {to}: it has {run_from} .. {run_to}, the reference {reference_from} .. "
     "{reference_to}",
     ""},
    {NothingToCompareFor, Note, "nothing-to-compare-for", "{0} has nothing to compare for {1*}", ""},
    {UnitsDiffer, Note, "units-differ", "{0} cannot be compared, because the units do not match, for {1*}", ""},
    {NoRelativeDifference, Note, "no-relative-difference",
     "{0} differs where the reference is 0 throughout, so no relative difference is given, in {1*}", ""},
    // Learning.
    {ProgressiveHorizon, Note, "progressive-horizon", "progressive horizon, growing by {growth}", ""},
    {LearnedWithOther, Note, "learned-with-other", "learned with {0} instead of {1}", ""},
    {RefreshNotLearned, Note, "refresh-not-learned",
     "feedthrough = \"refresh\" leaves nothing to learn; learned with \"delay\"", ""},
    {OptionNotLearned, Note, "option-not-learned", "the option {0} is not learned with; the default is used", ""},
    {OutputHeld, Note, "output-held",
     "{0} cannot be delayed (its subsystem provides no output without a step and no linearization): it is held, and "
     "the runs converge to it as it is held",
     ""},
    {FeedthroughAsDeclared, Note, "feedthrough-as-declared",
     "the feedthrough of '{0}' is taken as declared: moving its inputs failed ({why})", ""},
    {FeedthroughNotSeen, Note, "feedthrough-not-seen",
     "{0} is declared to follow {1} at once, which was not seen: taken as independent", ""},
    {ConvergenceNotEstimated, Note, "convergence-not-estimated", "no estimate of the convergence: {why}", ""},
    {ConvergenceEstimated, Note, "convergence-estimated",
     "gamma = {gamma:.8g}, largest at {frequency:.4g}, from linearizations at the start and {?own_steps|the "
     "subsystems' own steps}{!own_steps|exact steps}; {?falls|every run is better than the one before, as far as the "
     "system is linear}{!falls|the error of some runs may grow before it falls}",
     ""},
    {DelayedLoopRadius, Note, "delayed-loop-radius",
     "without corrections the delayed loop has a spectral radius of {radius:.8g}", ""},
    {TooLargeToEstimate, Note, "too-large-to-estimate",
     "no estimate of the convergence: {known} states and outputs and {corrections} corrections in a cycle of {cycle} "
     "macro steps; up to {most_known} and {most_corrections} are estimated",
     ""},
    // Problems: keys, options and values as they are written.
    {WordUnknown, Error, "word-unknown", "{0} must be {words}, not '{value}'", ""},
    {WrongType, Error, "wrong-type", "{0} must be {expected}, not {found}", ""},
    {OutOfRange, Error, "out-of-range", "{0} must be {range}, not {value}", ""},
    {UnknownOption, Error, "unknown-option", "unknown option '{0}' of {owner}", ""},
    {KeyRenamed, Error, "key-renamed", "{0} is now {names}", ""},
    {ShapesDiffer, Error, "shapes-differ", "'{0}' of shape {shape} cannot feed '{1}' of shape {input_shape}", ""},
    {NotUtf8, Error, "not-utf8", "not UTF-8 text", ""},
    {KeyTooLong, Error, "key-too-long", "a key has more than {parts} parts", ""},
    {KeyTwice, Error, "key-twice", "not readable as TOML: a key is there twice", ""},
    {NotToml, Error, "not-toml", "not readable as TOML: {why}", ""},
    {NotFinite, Error, "not-finite", "{0} must be finite, not {value}", ""},
    {KeyMisplaced, Error, "key-misplaced", "{0} is for {owner} only", ""},
    {EmptyValue, Error, "empty-value", "{0} is empty", ""},
    {NoSubsystems, Error, "no-subsystems", "the system has no subsystems", ""},
    {SubsystemTwice, Error, "subsystem-twice", "there are two subsystems named '{0}'", ""},
    {OnlyTimesRecorded, Warning, "only-times-recorded", "record.variables is empty: only the times are recorded", ""},
    {StopBeforeStart, Error, "stop-before-start", "run.stop must lie after run.start ({start}), not at {stop}", ""},
    {StepLongerThanRun, Error, "step-longer-than-run", "run.step ({step}) is longer than the run ({run})", ""},
    {TooManySteps, Error, "too-many-steps", "a run of {run} in steps of {step} has too many steps", ""},
    {StepTooSmall, Error, "step-too-small", "run.step ({step}) is too small to distinguish times near {time}", ""},
    {TooManyRows, Error, "too-many-rows", "record.interval ({interval}) asks for more than a billion rows", ""},
    {UnknownFormat, Error, "unknown-format", "record.format cannot be '{0}'", ""},
    {ModelAndFmu, Error, "model-and-fmu", "subsystem '{0}' has both a model and an fmu", ""},
    {TableAndOther, Error, "table-and-other", "subsystem '{0}' has both a csv and {other}", ""},
    {TimesNotAscending, Error, "times-not-ascending", "{0}: the times must increase, but {time} follows {previous}",
     ""},
    {ChangeAfterEnd, Warning, "change-after-end", "{0}: {time} lies after the end of the run", ""},
    {BadSubsystemName, Error, "bad-subsystem-name", "'{0}' cannot be the name of a subsystem", ""},
    {OffsetBeyondStep, Error, "offset-beyond-step", "{0}.step_offset ({offset}) must be less than its step ({step})",
     ""},
    {MinAboveMaxStep, Error, "min-above-max-step",
     "{0}.min_step ({min_step}) is greater than its max_step ({max_step})", ""},
    {BadEndpoint, Error, "bad-endpoint", "'{0}' cannot be the {role} of {of}", ""},
    {UnitsNotConverted, Warning, "units-not-converted",
     "'{0}' in {output_unit} feeds '{1}' in {input_unit} unconverted: {why}", ""},
    {UnitsDoNotMatch, Error, "units-do-not-match", "'{0}' in {output_unit} cannot feed '{1}' in {input_unit}: {why}",
     ""},
    {UnknownTable, Error, "unknown-table", "unknown table [{0}]", ""},
    {UnknownKey, Error, "unknown-key", "unknown key '{0}'{?owner| in [{owner}]}", ""},
    {WordNotAllowed, Error, "word-not-allowed", "{0} cannot be '{value}'", ""},
    {NotOnlyNumbers, Error, "not-only-numbers", "{0} must hold numbers only", ""},
    {MixedList, Error, "mixed-list", "{0} must hold only numbers or only strings", ""},
    {NoInputNamed, Error, "no-input-named", "{0} names no input", ""},
    {TableAndFactor, Error, "table-and-factor", "{0} has a table and a factor or offset", ""},
    {NotValuePairs, Error, "not-value-pairs", "{0} must hold [output, input] pairs", ""},
    {NotTimePairs, Error, "not-time-pairs", "{0} must hold [time, value] pairs", ""},
    {NoModel, Error, "no-model", "subsystem '{0}' has no model", ""},
    // Problems: SSP.
    {ValuesUnused, Warning, "values-unused", "{count} of its values match nothing in '{0}' and are ignored: {1*:5}",
     ""},
    {MappingWithoutSource, Warning, "mapping-without-source",
     "the mapping to '{0}' has no source: there is no parameter '{1}'", ""},
    {MappingIncomplete, Error, "mapping-incomplete", "the mapping of '{0}' to '{1}' has no entry for its value {value}",
     ""},
    {UnitNotTransformed, Warning, "unit-not-transformed",
     "'{0}' is transformed to '{1}' without a conversion of its unit '{unit}'", ""},
    {ContainsItself, Error, "contains-itself", "'{0}' contains itself: {path}", ""},
    {NestedTooDeep, Error, "nested-too-deep", "systems are nested deeper than {most}", ""},
    {TooManyElements, Error, "too-many-elements", "the system has more than {most} elements", ""},
    {UnknownDictionary, Error, "unknown-dictionary", "no system around '{0}' has the signal dictionary '{1}'", ""},
    {Renamed, Warning, "renamed", "'{0}' is named '{1}' here", ""},
    {ComponentUnusable, Error, "component-unusable", "component '{0}': {why}", ""},
    {ComponentWithoutSource, Error, "component-without-source", "the component '{0}' has no source", ""},
    {ComponentType, Error, "component-type", "the component '{0}' is of type '{type}', which is not supported", ""},
    {UnknownSystemId, Error, "unknown-system-id", "no system has the id '{0}'", ""},
    {UnknownElement, Error, "unknown-element", "a connection names the element '{0}', which is not there", ""},
    {SameDirection, Error, "same-direction", "'{0}' and '{1}' cannot be connected: both {both}", ""},
    {ConnectorFedTwice, Error, "connector-fed-twice", "'{0}' is fed twice", ""},
    {ConnectorCircle, Error, "connector-circle", "'{0}' is fed by a circle of connectors, or through more than {most}",
     ""},
    {ConnectorTables, Error, "connector-tables", "'{0}' is fed through {fault}", ""},
    {ConnectorUnitUnknown, Error, "connector-unit-unknown",
     "'{0}' is fed through '{1}' in {unit}, but '{2}' has no unit", ""},
    {ScheduledExecution, Error, "scheduled-execution", "'{0}' asks for scheduled execution, which is not supported",
     ""},
    {TableIncomplete, Error, "table-incomplete",
     "the value {value} of '{0}' has no entry in a table on its way to '{1}'", ""},
    {NotXml, Error, "not-xml", "not readable as XML: {why}", ""},
    {WrongRootElement, Error, "wrong-root-element", "the root element is '{0}', not '{1}'", ""},
    {OtherSspVersion, Warning, "other-ssp-version", "it is made for SSP {version}; it is read as SSP 2.0", ""},
    {AttributeMissing, Error, "attribute-missing", "the element {0} has no attribute '{1}'", ""},
    {AttributeNoNumber, Error, "attribute-no-number", "{0} of {1} must be a number, not '{value}'", ""},
    {NoSystemElement, Error, "no-system-element", "there is no element System", ""},
    {AnnotationIgnored, Warning, "annotation-ignored", "annotations of type '{0}' are ignored", ""},
    {ElementTwice, Error, "element-twice", "there are two elements named '{0}'", ""},
    {ElementConnections, Error, "element-connections",
     "connections of single elements of an array (startIndices, endIndices) are not supported", ""},
    {UnitFactorZero, Error, "unit-factor-zero", "the unit '{0}' has the factor 0", ""},
    {NoValueOfType, Error, "no-value-of-type", "'{value}' is no value of type {type} for '{0}'", ""},
    {ArrayParameter, Error, "array-parameter", "'{0}' is an array, which is not supported", ""},
    {ParameterWithoutValue, Error, "parameter-without-value", "parameter '{0}' has no value of a known type", ""},
    {ParameterTwice, Error, "parameter-twice", "the parameter '{0}' is there twice", ""},
    {MappedTwice, Error, "mapped-twice", "several parameters are mapped to '{0}'", ""},
    {TableEmpty, Error, "table-empty", "{0} has no entry", ""},
    {TableEntryType, Error, "table-entry-type",
     "an entry of {0} maps '{from}' to '{to}', which are no values of type {type}", ""},
    {TableTooLong, Error, "table-too-long", "{0} has more than {most} entries", ""},
    {ParametersUnusable, Error, "parameters-unusable", "{why}", ""},
    // Problems: subsystems, variables, connections and bonds.
    {SubsystemRefused, Error, "subsystem-refused", "{why}", ""},
    {StartRefused, Error, "start-refused", "'{0}' {why}", ""},
    {CapabilityNotThere, Error, "capability-not-there", "'{0}': {key} cannot be added: it has none", ""},
    {CapabilityNotRaised, Error, "capability-not-raised", "'{0}': {key} cannot be raised to {wanted}: it has {present}",
     ""},
    {StepIsImposed, Error, "step-is-imposed", "'{0}': step cannot be {step}: it imposes {imposed}", ""},
    {OffsetWithoutStep, Error, "offset-without-step", "'{0}': step_offset means nothing without an imposed step", ""},
    {StepBelowShortest, Error, "step-below-shortest",
     "'{0}': a step of {step} cannot be allowed: its shortest is {limit}", ""},
    {StepAboveLongest, Error, "step-above-longest", "'{0}': a step of {step} cannot be allowed: its longest is {limit}",
     ""},
    {NoStartOfType, Error, "no-start-of-type", "'{0}' is of type {type}, which takes no start value", ""},
    {InputNotConnected, Error, "input-not-connected", "input '{0}' is not connected", ""},
    {UnknownStart, Error, "unknown-start", "'{0}' has no parameter, state or input '{1}' to start", ""},
    {UnknownSubsystem, Error, "unknown-subsystem", "unknown subsystem '{0}' in '{1}'", ""},
    {TypeNotConnectable, Error, "type-not-connectable", "'{0}' is of type {type}, which cannot be connected", ""},
    {ArrayNotElement, Error, "array-not-element", "'{0}' is an array of shape {shape}", ""},
    {WrongCausality, Error, "wrong-causality", "'{0}' is not {kind}", ""},
    {UnknownVariable, Error, "unknown-variable", "unknown variable '{0}'", ""},
    {InputFedTwice, Error, "input-fed-twice", "'{0}' is fed twice: by '{1}' (line {line}) and by '{2}'", ""},
    {TableOfReals, Error, "table-of-reals", "'{0}' is a real number, which no table can hold", ""},
    {TypesDiffer, Error, "types-differ", "'{0}' of type {type} cannot feed '{1}' of type {input_type}", ""},
    {NotScalable, Error, "not-scalable", "'{0}' of type {type} cannot be scaled", ""},
    {NotTunable, Error, "not-tunable", "'{0}' is no tunable parameter: it cannot change during the run", ""},
    {TimeoutIgnored, Warning, "timeout-ignored", "the timeout of '{0}' has no effect: there is no watchdog", ""},
    {TableShorterThanRun, Warning, "table-shorter-than-run",
     "the table of '{0}' holds {first} .. {last}, the run goes from {start} to {stop}: its first and last rows are "
     "held",
     ""},
    {FmuUnusable, Error, "fmu-unusable", "{why}", ""},
    {TableUnusable, Error, "table-unusable", "{why}", ""},
    {UnknownModel, Error, "unknown-model", "unknown model '{0}'", ""},
    {StartIgnored, Warning, "start-ignored", "'{0}' has no variable '{1}' to start: its value is ignored", ""},
    {StartUnit, Error, "start-unit", "'{0}' takes a value in '{unit}', not in '{written}'", ""},
    {StartTwice, Error, "start-twice", "'{0}' and '{1}' are one variable with two start values", ""},
    {UnknownItem, Error, "unknown-item", "'{0}' has no value named '{value}'", ""},
    {WrongValueType, Error, "wrong-value-type", "'{0}' takes {expected}, not {found}", ""},
    {UnknownMethod, Error, "unknown-method", "unknown method '{0}'", ""},
    {LostInMat, Warning, "lost-in-mat", "MAT files hold no texts and no bytes: {names} will be NaN", ""},
    {NeedsPowerBonds, Error, "needs-power-bonds", "{0} needs power bonds; this system has none", ""},
    {TrialsNotPossible, Error, "trials-not-possible",
     "trials = \"{choice}\" needs {needs}, which '{0}' does not provide", ""},
    {NoSource, Error, "no-source", "subsystem '{0}' has no model, no fmu and no csv", ""},
    {NoStopTime, Error, "no-stop-time", "the run has no stop time", ""},
    {LearnedWithOtherMethod, Error, "learned-with-other-method",
     "the correction was learned with {0} and cannot be used with {1}", ""},
    {LearnedWithOtherStep, Error, "learned-with-other-step",
     "the correction was learned in steps of {step}, not {asked}", ""},
    {LearnedWithOtherOption, Error, "learned-with-other-option",
     "the correction was learned with {0} = {value}, not {asked}", ""},
    {BondNotOpposite, Error, "bond-not-opposite",
     "bond '{0}' must name an effort and a flow that two subsystems exchange, one in each direction; these are "
     "{connections} connection{rest}",
     ""},
    {BondTwice, Error, "bond-twice",
     "bond '{bond}': '{0}' belongs to the bond '{1}' already, and its energy would count twice", ""},
    {BondFactorZero, Error, "bond-factor-zero", "bond '{bond}': '{0}' is connected with a factor of 0", ""},
    {BondNoPower, Error, "bond-no-power", "bond '{bond}': {effort_unit} ('{0}') times {flow_unit} ('{1}') is no power",
     ""},
    {BondNotConnected, Error, "bond-not-connected", "bond: no connection carries '{0}'", ""},
    {BondSeveralInputs, Error, "bond-several-inputs", "bond: '{0}' feeds several inputs", ""},
    // Problems: what is asked for.
    {NothingMatches, Error, "nothing-matches", "nothing to record matches '{0}'", ""},
    {NoUsableRows, Error, "no-usable-rows", "record.interval = {interval} makes no usable rows", ""},
    {NotReal, Error, "not-real", "'{0}' is no real number", ""},
    {NoRange, Error, "no-range", "no range to search for '{0}', which is {value}", ""},
    {UnknownParameter, Error, "unknown-parameter", "there is no parameter '{0}'", ""},
    {UnknownGainInput, Error, "unknown-gain-input", "there is no connected input '{0}'", ""},
    {NotForSsp, Error, "not-for-ssp", "'{0}' is no FMU: SSP cannot hold it", ""},
    {NoSspTable, Error, "no-ssp-table", "SSP has no table with {output} beside {input}", ""},
    {UnknownSignal, Error, "unknown-signal", "no signal '{0}' to watch", ""},
    {NotWatchable, Error, "not-watchable", "'{0}' is no number and cannot be watched", ""},
    {NotRefinable, Error, "not-refinable", "no run at {at}: {why}", ""},
    {PartDoesNotFit, Error, "part-does-not-fit",
     "{at} is no multiple of the {imposed} that '{0}' imposes, nor a part of it", ""},
    {OncePerProcess, Error, "once-per-process", "'{0}' cannot be run again: it can be made once per process only", ""},
    {LearnOptionRange, Error, "learn-option-range", "{0} must be {range}", ""},
    // Problems: what a method needs, and its options.
    {NeedsEquations, Error, "needs-equations",
     "{method} needs the equations of every subsystem; '{0}' does not provide them", ""},
    {NeedsTrials, Error, "needs-trials",
     "{method} needs trials: rollback, or states and a linearization; '{0}' provides neither", ""},
    {NeedsFreeStep, Error, "needs-free-step", "{method} adapts the macro step, but '{0}' imposes a step of {imposed}",
     ""},
    {NeedsCommonStep, Error, "needs-common-step",
     "{method} takes all subsystems over the same step; '{0}' imposes {imposed}, which does not divide the macro step "
     "of {step}",
     ""},
    {NeedsRefresh, Error, "needs-refresh",
     "feedthrough = \"refresh\" needs outputs without a step; '{0}' does not provide them", ""},
    {OffsetNotSupported, Error, "offset-not-supported",
     "'{0}' communicates {offset} after whole steps; {method} has one grid for all", ""},
    {LoopNeedsRefresh, Error, "loop-needs-refresh",
     "loops = \"solve\" needs outputs without a step; '{0}' is in an algebraic loop and does not provide them", ""},
    {ImposedStepFarOff, Error, "imposed-step-far-off",
     "'{0}' imposes a step of {imposed}, which differs from the macro step of {step} by a factor of more than a "
     "million",
     ""},
    {ImposedStepDoesNotFit, Error, "imposed-step-does-not-fit",
     "'{0}' imposes a step of {imposed}, which neither divides the macro step of {step} nor is a multiple of it", ""},
    {ImposedStepAndSubsteps, Error, "imposed-step-and-substeps",
     "'{0}' imposes a step of {imposed}, which does not divide its sub-step of {substep} (substeps = {substeps})", ""},
    {RunNoMultiple, Error, "run-no-multiple",
     "the run from {start} to {stop} is no multiple of the step of {imposed} that '{0}' imposes", ""},
    {TooManyParts, Error, "too-many-parts",
     "the maximal step of '{0}', {max_step}, cuts the macro step of {step} into {parts:g} parts", ""},
    {BelowMinStep, Error, "below-min-step", "a step of {step} is below the minimal step of '{0}', {min_step}", ""},
    {LastBelowMinStep, Error, "last-below-min-step",
     "the last step, {step}, is below the minimal step of '{0}', {min_step}", ""},
    {OptionWithoutEffect, Warning, "option-without-effect", "{0} has no effect: the macro step is fixed", ""},
    {SmallestAboveLargest, Error, "smallest-above-largest",
     "the smallest step, {smallest}, is above the largest, {largest}", ""},
    {MinStepLongerThanRun, Error, "min-step-longer-than-run", "min_step = {min_step} is longer than the run, {run}",
     ""},
    {SequenceUnknown, Error, "sequence-unknown", "sequence: unknown subsystem '{0}'", ""},
    {SequenceIncomplete, Error, "sequence-incomplete", "sequence: '{0}' is missing", ""},
    {SequenceTwice, Error, "sequence-twice", "sequence: '{0}' is called {times} times", ""},
    {EnergyNeedsHeldInputs, Error, "energy-needs-held-inputs", "step_control = \"energy\" needs held inputs", ""},
    {AdaptiveConflict, Error, "adaptive-conflict",
     "adaptive = true looks at the connection defect, which feedthrough = \"refresh\" removes, and step_control = "
     "\"energy\" chooses the step itself",
     ""},
    {GainUnknown, Error, "gain-unknown", "gains: unknown input '{0}'", ""},
    {DelayedUnknown, Error, "delayed-unknown", "delayed: unknown output '{0}'", ""},
    {GrowthNoPair, Error, "growth-no-pair", "{0} must be two numbers: one above 0 and up to 1, and one from 1 on", ""},
    {TolerancesZero, Error, "tolerances-zero", "{0} and absolute_tolerance are both 0", ""},
    {StepsOutOfOrder, Error, "steps-out-of-order", "{0} is less than {bound}", ""},
    {MinStepAboveFirst, Error, "min-step-above-first",
     "{0} is {min_step}, but the first step is that of the run, {step}", ""},
    // Obstacles to a method or a forecast.
    {DifferentiatesInput, Error, "differentiates-input", "'{0}' differentiates an input, and held inputs have no slope",
     ""},
    {RunObstacle, Error, "run-obstacle", "{why}", ""},
    {LinearizationIncomplete, Error, "linearization-incomplete",
     "'{0}' differentiates an input, which its linearization does not show", ""},
    {LinearizationFailed, Error, "linearization-failed", "'{0}' failed when it was linearized: {why}", ""},
    {LinearizationNotFinite, Error, "linearization-not-finite", "the linearization of '{0}' is not finite", ""},
});

constexpr auto kCatalogue = [] {
  std::array<FactEntry, kReports.size() + base::kErrors.size()> all{};
  std::copy(base::kErrors.begin(), base::kErrors.end(), std::copy(kReports.begin(), kReports.end(), all.begin()));
  return all;
}();

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i) {
    if (static_cast<std::size_t>(kCatalogue[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the catalogue lists the codes in the order of the enumeration");

/// `custom` for a number that is no code.
const FactEntry& entry_of(FactCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return kCatalogue[index < kCatalogue.size() ? index : 0];
}

}  // namespace

std::span<const FactEntry> fact_catalogue() noexcept {
  return kCatalogue;
}

FactKind kind_of(FactCode code) noexcept {
  return entry_of(code).kind;
}

std::string_view name_of(FactCode code) noexcept {
  return entry_of(code).name;
}

std::optional<FactCode> fact_code(std::string_view name) noexcept {
  const auto found =
      std::find_if(kCatalogue.begin(), kCatalogue.end(), [&](const FactEntry& of) { return of.name == name; });
  return found == kCatalogue.end() ? std::nullopt : std::optional(found->code);
}

}  // namespace entrain
