"""Registration of classes, properties, menus, presets and handlers; unregistered in reverse."""

from pathlib import Path
from typing import Any

import bpy

from .bake import cache_handlers
from .cli import command
from .live import drape_files, handlers, timeline
from .scene import pins
from .scene.handlers import add_handlers, remove_handlers
from .settings import (
    attachment_properties,
    bend_compliance,
    bone_properties,
    collider_friction,
    former_files,
    overlay_properties,
    preferences,
    properties,
    scene_properties_group,
    strand_units,
)
from .translation import interface
from .ui import (
    add_mesh,
    apply_operator,
    attachment_operators,
    bake_conversion_operator,
    bake_operator,
    bake_panel,
    bone_import_operators,
    bone_operator,
    cache_exchange,
    collider_operators,
    collisions_panel,
    curve_ropes,
    direction_panel,
    drape_operator,
    edit_operators,
    export_panel,
    fit_operator,
    flesh_operator,
    flesh_panel,
    grab_operator,
    grab_tool,
    hair_operators,
    live_operators,
    loop_range,
    manual,
    material_menu,
    messages,
    operators,
    panels,
    physics_panels,
    pin_operators,
    remarks,
    report_operator,
    rope_tubes,
    samples,
    shape_key_lists,
    shape_panels,
    simulation_panel,
    soft_bone_operators,
    soft_bone_panels,
    tearing_cuts,
    texture_operator,
)
from .ui.overlay import drawing_cache, panel, view

CLASSES: tuple[type[Any], ...] = (
    properties.VERLET_PG_baked_key,
    attachment_properties.VERLET_PG_attachment,
    properties.VERLET_PG_body,
    scene_properties_group.VERLET_PG_scene,
    overlay_properties.VERLET_PG_overlay,
    operators.VERLET_OT_convert,
    operators.VERLET_OT_set_material,
    operators.VERLET_OT_select_open_edges,
    operators.VERLET_OT_release,
    operators.VERLET_OT_clear_bake,
    soft_bone_operators.VERLET_OT_make_soft_bones,
    soft_bone_operators.VERLET_OT_release_soft_bones,
    soft_bone_operators.VERLET_OT_copy_bone_settings,
    soft_bone_operators.VERLET_OT_close_skirt,
    soft_bone_operators.VERLET_OT_set_bone_material,
    bone_import_operators.VERLET_OT_soft_bones_from_addons,
    bone_import_operators.VERLET_OT_soft_bones_from_file,
    soft_bone_panels.VERLET_MT_bone_material,
    attachment_operators.VERLET_OT_attachment_add,
    attachment_operators.VERLET_OT_attachment_remove,
    attachment_operators.VERLET_UL_attachments,
    collider_operators.VERLET_OT_make_collider,
    pin_operators.VERLET_OT_pin_selected,
    pin_operators.VERLET_OT_unpin_selected,
    bake_operator.VERLET_OT_bake,
    bake_conversion_operator.VERLET_OT_convert_bake,
    edit_operators.VERLET_OT_edit_frame,
    edit_operators.VERLET_OT_discard_edit,
    cache_exchange.VERLET_OT_export_cache,
    cache_exchange.VERLET_OT_import_cache,
    bone_operator.VERLET_OT_bake_bones,
    texture_operator.VERLET_OT_export_vat,
    loop_range.VERLET_OT_scene_range_to_loop,
    drape_operator.VERLET_OT_drape,
    apply_operator.VERLET_OT_apply_shape,
    fit_operator.VERLET_OT_fit,
    live_operators.VERLET_OT_live,
    live_operators.VERLET_OT_reset,
    grab_operator.VERLET_OT_grab,
    rope_tubes.VERLET_OT_show_tube,
    curve_ropes.VERLET_OT_curve_to_mesh,
    hair_operators.VERLET_OT_hair_from_guides,
    flesh_operator.VERLET_OT_paint_flesh,
    add_mesh.VERLET_OT_add_cloth,
    add_mesh.VERLET_OT_add_rope,
    add_mesh.VERLET_OT_add_jelly,
    add_mesh.VERLET_OT_add_balloon,
    add_mesh.VERLET_OT_add_water,
    preferences.VERLET_AP_preferences,
    material_menu.VERLET_MT_material,
    material_menu.VERLET_PT_material_presets,
    material_menu.VERLET_OT_add_material_preset,
    panels.VERLET_MT_add,
    samples.VERLET_OT_open_sample,
    samples.VERLET_MT_samples,
    remarks.VERLET_PT_remarks,
    messages.VERLET_PT_messages,
    remarks.VERLET_OT_select_remark,
    report_operator.VERLET_OT_copy_report,
    bake_panel.VERLET_PT_bake,
    bake_panel.VERLET_PT_bake_options,
    export_panel.VERLET_PT_export,
    soft_bone_panels.VERLET_PT_soft_bones,
    soft_bone_panels.VERLET_PT_bone,
    panels.VERLET_PT_body,
    panels.VERLET_PT_material,
    flesh_panel.VERLET_PT_muscles,
    panels.VERLET_PT_attachments,
    collisions_panel.VERLET_PT_collisions,
    panels.VERLET_PT_forces,
    panels.VERLET_PT_field_weights,
    tearing_cuts.VERLET_OT_split_for_tearing,
    shape_panels.VERLET_PT_shape,
    shape_panels.VERLET_PT_plasticity,
    shape_panels.VERLET_PT_weights,
    direction_panel.VERLET_PT_direction,
    direction_panel.VERLET_PT_cage,
    simulation_panel.VERLET_PT_simulation,
    simulation_panel.VERLET_PT_advanced,
    panels.VERLET_PT_ground,
    *physics_panels.PANELS,
    shape_key_lists.VERLET_UL_own_keys,
    shape_key_lists.VERLET_UL_baked_keys,
    shape_key_lists.VERLET_PT_shape_keys,
    panel.VERLET_PT_overlay,
)

MENUS: tuple[tuple[str, Any], ...] = (
    ("VIEW3D_MT_mesh_add", panels.draw_add_menu),
    ("VIEW3D_MT_object_quick_effects", panels.draw_quick_effects),
    ("VIEW3D_MT_object_animation", panels.draw_animation_menu),
    ("VIEW3D_MT_object_animation", bone_import_operators.draw_bone_import_menu),
    ("VIEW3D_MT_pose", bone_import_operators.draw_bone_import_menu),
    ("VIEW3D_MT_object_apply", panels.draw_apply_menu),
    ("VIEW3D_MT_edit_mesh_vertices", pin_operators.draw_vertex_menu),
    ("VIEW3D_MT_edit_mesh_context_menu", pin_operators.draw_vertex_menu),
    ("TOPBAR_MT_file_new", samples.draw_new_menu),
    ("TOPBAR_MT_file_export", cache_exchange.draw_export_menu),
    ("TOPBAR_MT_file_export", texture_operator.draw_vat_menu),
    ("TOPBAR_MT_file_import", cache_exchange.draw_import_menu),
    ("VIEW3D_MT_edit_curve_ctrlpoints", pin_operators.draw_vertex_menu),
    ("PHYSICS_PT_add", physics_panels.draw_add_button),
)

# Blender's type stubs lack the add-on's properties and the return values of these functions.
_blender: Any = bpy

_PRESETS_PARENT = str(Path(__file__).parent / "ui")
"""Parent of the `presets` folder, whose entries Blender lists in its export dialogues."""

_commands: list[Any] = []
"""Handle of the registered command line, which unregistering needs."""


def register() -> None:
    """Registers classes, properties, menu entries, presets and the command."""
    interface.name_contexts(CLASSES, _own_properties())
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    _register_properties()
    for menu, draw in MENUS:
        getattr(bpy.types, menu).append(draw)
    _blender.utils.register_preset_path(_PRESETS_PARENT)
    _blender.utils.register_manual_map(manual.manual_map)
    if not bpy.app.background:  # whoever reads reports without a window is a script or a farm
        interface.register_catalogs()
    preferences.apply_preferences()
    add_handlers(former_files.HANDLERS)
    former_files.keep_settings_of_open_file()
    cache_handlers.register_handlers()
    handlers.register_handlers()
    drape_files.register_handlers()
    timeline.register_timeline()
    pins.register_handlers()
    add_handlers(samples.HANDLERS)
    drawing_cache.register_handlers()
    view.register_overlay()
    grab_tool.register_tool()
    _commands.append(_blender.utils.register_cli_command("verlet", command.main))


def _register_properties() -> None:
    """Registers the properties of objects, bones, scenes and workspaces."""
    _blender.types.Object.verlet = _blender.props.PointerProperty(
        type=properties.VERLET_PG_body, override={"LIBRARY_OVERRIDABLE"}
    )
    for name, declared in bone_properties.BONE_SETTINGS.items():
        setattr(_blender.types.PoseBone, bone_properties.property_name(name), declared)
    _blender.types.Object.verlet_bend = bend_compliance.BEND
    _blender.types.Object.verlet_droop = strand_units.DROOP
    _blender.types.Object.verlet_strand_mass = strand_units.STRAND_MASS
    _blender.types.Object.verlet_collider_friction = collider_friction.COLLIDER_FRICTION
    _blender.types.Object.verlet_type = material_menu.TYPE
    _blender.types.Scene.verlet = _blender.props.PointerProperty(
        type=scene_properties_group.VERLET_PG_scene, override={"LIBRARY_OVERRIDABLE"}
    )
    for name, declared in scene_properties_group.STEP_COUNTS.items():
        setattr(scene_properties_group.VERLET_PG_scene, name, declared)
    _blender.types.WorkSpace.verlet_overlay = _blender.props.PointerProperty(
        type=overlay_properties.VERLET_PG_overlay
    )


def _own_properties() -> tuple[Any, ...]:
    """Declarations of the properties that objects, bones and scenes have directly."""
    return (
        *bone_properties.BONE_SETTINGS.values(),
        *scene_properties_group.STEP_COUNTS.values(),
        bend_compliance.BEND,
        strand_units.DROOP,
        strand_units.STRAND_MASS,
        collider_friction.COLLIDER_FRICTION,
        material_menu.TYPE,
    )


def unregister() -> None:
    """Unregisters everything that `register` registered, in reverse order."""
    bpy.utils.unregister_cli_command(_commands.pop())
    grab_tool.unregister_tool()
    view.unregister_overlay()
    drawing_cache.unregister_handlers()
    remove_handlers(samples.HANDLERS)
    pins.unregister_handlers()
    timeline.unregister_timeline()
    drape_files.unregister_handlers()
    handlers.unregister_handlers()
    cache_handlers.unregister_handlers()
    remove_handlers(former_files.HANDLERS)
    interface.unregister_catalogs()
    _blender.utils.unregister_manual_map(manual.manual_map)
    _blender.utils.unregister_preset_path(_PRESETS_PARENT)
    for menu, draw in reversed(MENUS):
        getattr(bpy.types, menu).remove(draw)
    del _blender.types.WorkSpace.verlet_overlay
    for name in scene_properties_group.STEP_COUNTS:
        delattr(scene_properties_group.VERLET_PG_scene, name)
    del _blender.types.Scene.verlet
    del _blender.types.Object.verlet_type
    del _blender.types.Object.verlet_collider_friction
    del _blender.types.Object.verlet_strand_mass
    del _blender.types.Object.verlet_droop
    del _blender.types.Object.verlet_bend
    for name in bone_properties.BONE_SETTINGS:
        delattr(_blender.types.PoseBone, bone_properties.property_name(name))
    del _blender.types.Object.verlet
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
